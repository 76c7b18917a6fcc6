//! The integration tests, in one program.

mod bounds;
mod edges;
mod exact;
mod grades;
mod leaves;
mod limits;
mod refused;
