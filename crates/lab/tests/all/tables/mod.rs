//! The tables, cell by cell.

mod elimac;
mod grid;
mod lightmac;
mod pmac;
