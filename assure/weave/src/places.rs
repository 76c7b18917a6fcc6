//! Finds the places of mutants in a parsed file.

use std::collections::HashSet;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr};

use super::Mutant;

/// The code at a place, as ranges of the source.
pub enum Shape {
    /// `left operator right`, both evaluated.
    Arithmetic { left: Range<usize>, operator: String, right: Range<usize> },
    /// The same by reference.
    Comparison { left: Range<usize>, operator: String, right: Range<usize> },
    /// `left && right` or `left || right`.
    Lazy { left: Range<usize>, operator: String, right: Range<usize> },
    /// `left operator= right`.
    Assignment { left: Range<usize>, operator: String, right: Range<usize> },
    /// `operator operand`.
    Unary { operator: String, operand: Range<usize> },
    /// The statements of a function: mutants return at once.
    Body,
    /// The guard of an arm, or the place for one after its pattern.
    Arm { guard: Option<Range<usize>> },
    /// A struct expression with a base, and the ranges of fields that may be left out.
    Fields,
    /// `const` before a function, which cannot check which mutant is active.
    Const,
}

/// A place, and its mutants: numbers and replacements.
pub struct Place {
    pub range: Range<usize>,
    pub shape: Shape,
    pub variants: Vec<Variant>,
}

/// One mutant at its place.
pub struct Variant {
    pub number: u64,
    pub replacement: String,
    pub genre: String,
    pub range: Range<usize>,
}

impl Place {
    pub fn numbers(&self) -> Vec<u64> {
        self.variants.iter().map(|one| one.number).collect()
    }
}

struct Finder<'a> {
    mutants: &'a [Mutant],
    constant: &'a HashSet<String>,
    places: Vec<Place>,
    /// Number of enclosing constants and functions that must be constant.
    constants: usize,
}

pub fn find(file: &syn::File, mutants: &[Mutant], constant: &HashSet<String>) -> Vec<Place> {
    let mut finder = Finder { mutants, constant, places: Vec::new(), constants: 0 };
    finder.visit_file(file);
    // Outer ones first, preceded by empty ones.
    finder.places.sort_by_key(|place| {
        (place.range.start, !place.range.is_empty(), usize::MAX - place.range.end)
    });
    finder.places
}

fn range(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

/// Returns whether a chain of `&&` has a `let`, which has no value.
fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_assignment(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

fn is_comparison(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::Eq(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Ne(_) | BinOp::Ge(_) | BinOp::Gt(_)
    )
}

impl Finder<'_> {
    fn variants(&self, is_here: impl Fn(&Mutant) -> bool) -> Vec<Variant> {
        let here = self.mutants.iter().filter(|one| is_here(one));
        here.map(|one| Variant {
            number: one.number,
            replacement: one.replacement.clone(),
            genre: one.genre.clone(),
            range: one.start..one.end,
        })
        .collect()
    }

    fn add(&mut self, range: Range<usize>, shape: Shape, variants: Vec<Variant>) {
        if self.constants == 0 && !variants.is_empty() {
            self.places.push(Place { range, shape, variants });
        }
    }

    fn function(&mut self, sig: &syn::Signature, block: &Block, inner: impl FnOnce(&mut Self)) {
        let must_stay = sig.constness.is_some() && self.constant.contains(&sig.ident.to_string());
        self.constants += usize::from(must_stay);
        if let (Some(token), false, 0) = (&sig.constness, must_stay, self.constants) {
            self.places.push(Place {
                range: range(token),
                shape: Shape::Const,
                variants: Vec::new(),
            });
        }
        // An `impl Trait` cannot be two types at a time.
        let has_one_type =
            !sig.output.span().source_text().is_some_and(|text| text.contains("impl "));
        if let (Some(first), Some(last), true) =
            (block.stmts.first(), block.stmts.last(), has_one_type)
        {
            let (start, end) = (range(first).start, range(last).end);
            let variants = self.variants(|one| {
                let is_within = one.start >= start && one.end <= end;
                one.genre == "FnValue" && is_within && !Self::is_in_an_item_of(block, one)
            });
            let at = block.brace_token.span.open().byte_range().end;
            self.add(at..at, Shape::Body, variants);
        }
        inner(self);
        self.constants -= usize::from(must_stay);
    }

    /// Returns whether the mutant is in a function inside this block.
    fn is_in_an_item_of(block: &Block, mutant: &Mutant) -> bool {
        block.stmts.iter().any(|statement| match statement {
            syn::Stmt::Item(item) => {
                let item = range(item);
                item.start <= mutant.start && mutant.end <= item.end
            }
            _ => false,
        })
    }

    fn in_constant(&mut self, inner: impl FnOnce(&mut Self)) {
        self.constants += 1;
        inner(self);
        self.constants -= 1;
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let at = range(&binary.op);
        let variants = self.variants(|one| one.genre == "BinaryOperator" && one.start == at.start);
        let (left, right) = (range(&binary.left), range(&binary.right));
        let operator = binary.op.span().source_text().unwrap_or_default();
        let shape = match binary.op {
            BinOp::And(_) | BinOp::Or(_) if has_let(&binary.left) || has_let(&binary.right) => None,
            BinOp::And(_) | BinOp::Or(_) => Some(Shape::Lazy { left, operator, right }),
            ref op if is_assignment(op) => Some(Shape::Assignment { left, operator, right }),
            ref op if is_comparison(op) => Some(Shape::Comparison { left, operator, right }),
            _ => Some(Shape::Arithmetic { left, operator, right }),
        };
        if let Some(shape) = shape {
            self.add(range(binary), shape, variants);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        let at = range(&unary.op);
        let variants = self.variants(|one| one.genre == "UnaryOperator" && one.start == at.start);
        let operator = unary.op.span().source_text().unwrap_or_default();
        self.add(range(unary), Shape::Unary { operator, operand: range(&unary.expr) }, variants);
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let all = range(arm);
        let guard = arm.guard.as_ref().map(|(_, guard)| range(guard));
        let has_let = arm.guard.as_ref().is_some_and(|(_, guard)| has_let(guard));
        let variants = self.variants(|one| match one.genre.as_str() {
            "MatchArm" => one.start == all.start && one.end <= all.end,
            "MatchArmGuard" => guard.as_ref().is_some_and(|guard| guard.start == one.start),
            _ => false,
        });
        let end_of_pattern = range(&arm.pat).end;
        let place = guard.as_ref().map_or(end_of_pattern..end_of_pattern, |guard| guard.clone());
        if !has_let {
            self.add(place, Shape::Arm { guard }, variants);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        let fields: Vec<_> = expr.fields.iter().map(range).collect();
        let variants = self.variants(|one| {
            one.genre == "StructField" && fields.iter().any(|field| field.start == one.start)
        });
        self.add(range(expr), Shape::Fields, variants);
        visit::visit_expr_struct(self, expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block, |inner| visit::visit_item_fn(inner, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block, |inner| visit::visit_impl_item_fn(inner, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        match &item.default {
            Some(block) => {
                self.function(&item.sig, block, |inner| visit::visit_trait_item_fn(inner, item))
            }
            None => visit::visit_trait_item_fn(self, item),
        }
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.in_constant(|inner| visit::visit_item_const(inner, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.in_constant(|inner| visit::visit_impl_item_const(inner, item));
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.in_constant(|inner| visit::visit_trait_item_const(inner, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.in_constant(|inner| visit::visit_item_static(inner, item));
    }

    fn visit_expr_const(&mut self, expr: &'ast syn::ExprConst) {
        self.in_constant(|inner| visit::visit_expr_const(inner, expr));
    }

    fn visit_expr_repeat(&mut self, expr: &'ast syn::ExprRepeat) {
        self.visit_expr(&expr.expr);
        self.in_constant(|inner| inner.visit_expr(&expr.len));
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        self.in_constant(|inner| visit::visit_type(inner, ty));
    }

    fn visit_pat(&mut self, pat: &'ast syn::Pat) {
        self.in_constant(|inner| visit::visit_pat(inner, pat));
    }

    fn visit_generic_argument(&mut self, argument: &'ast syn::GenericArgument) {
        self.in_constant(|inner| visit::visit_generic_argument(inner, argument));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.in_constant(|inner| visit::visit_variant(inner, variant));
    }
}
