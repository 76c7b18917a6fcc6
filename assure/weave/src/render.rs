//! Writes the woven text. No lines are added, so that a mutant stays on its line.

use std::fmt::Write;
use std::ops::Range;

use super::places::{Place, Shape, Variant};

pub fn text(source: &str, places: &[Place]) -> String {
    Writer { source, places }.woven(0..source.len(), 0, usize::MAX)
}

struct Writer<'a> {
    source: &'a str,
    places: &'a [Place],
}

fn alive(number: u64) -> String {
    format!("crate::mutation::alive({number})")
}

impl Writer<'_> {
    /// Returns a part of the source, weaving the places from index `from` on except `but`.
    fn woven(&self, part: Range<usize>, from: usize, but: usize) -> String {
        let (mut out, mut at) = (String::new(), part.start);
        for (index, place) in self.places.iter().enumerate().skip(from) {
            let within = place.range.start >= at && place.range.end <= part.end && index != but;
            if within {
                out.push_str(&self.source[at..place.range.start]);
                let _ = write!(out, "/*{{{index}*/{}/*{index}}}*/", self.place(index, place));
                at = place.range.end;
            }
        }
        out + &self.source[at..part.end]
    }

    /// Returns `if ... else if ... else original`.
    fn choice(
        &self,
        variants: &[Variant],
        of: impl Fn(&Variant) -> String,
        original: &str,
    ) -> String {
        let mut out = String::new();
        for one in variants {
            let (number, text) = (one.number, of(one));
            let _ =
                write!(out, "if {} {{ /*<{number}*/{text}/*{number}>*/ }} else ", alive(number));
        }
        let _ = write!(out, "{{ {original} }}");
        out
    }

    fn place(&self, index: usize, place: &Place) -> String {
        let inner = |part: &Range<usize>| self.woven(part.clone(), index + 1, usize::MAX);
        let variants = &place.variants;
        match &place.shape {
            Shape::Arithmetic { left, operator, right } => {
                let of = |with: &str| format!("__l {with} __r");
                let choice = self.choice(variants, |one| of(&one.replacement), &of(operator));
                format!("(match ({}, {}) {{ (__l, __r) => {choice} }})", inner(left), inner(right))
            }
            Shape::Comparison { left, operator, right } => {
                let of = |with: &str| format!("*__l {with} *__r");
                let choice = self.choice(variants, |one| of(&one.replacement), &of(operator));
                format!(
                    "(match (&({}), &({})) {{ (__l, __r) => {choice} }})",
                    inner(left),
                    inner(right)
                )
            }
            Shape::Lazy { left, operator, right } => {
                let number = variants[0].number;
                let turn = if operator == "&&" { "!=" } else { "==" };
                let (left, right) = (inner(left), inner(right));
                let alive = alive(number);
                // `a && b` is b if a is true, and `a || b` is b if a is false.
                format!(
                    "(match ({left}) {{ __l => if __l {turn} {alive} {{ {right} }} else {{ __l }} }})"
                )
            }
            Shape::Assignment { left, operator, right } => {
                let of = |with: &str| format!("*__l {with} __r");
                let choice = self.choice(variants, |one| of(&one.replacement), &of(operator));
                format!(
                    "(match ({}, &mut ({})) {{ (__r, __l) => {choice} }})",
                    inner(right),
                    inner(left)
                )
            }
            Shape::Unary { operator, operand } => {
                let choice = self.choice(variants, |_| "__x".into(), &format!("{operator}__x"));
                format!("(match ({}) {{ __x => {choice} }})", inner(operand))
            }
            Shape::Body => {
                let mut out = String::new();
                for one in variants {
                    let (number, value) = (one.number, &one.replacement);
                    let _ = write!(
                        out,
                        " if {} {{ /*<{number}*/return {value};/*{number}>*/ }}",
                        alive(number)
                    );
                }
                out
            }
            Shape::Arm { guard } => {
                let of = |genre: &str, replacement: &str| {
                    let here = variants
                        .iter()
                        .filter(|one| one.genre == genre && one.replacement == replacement);
                    here.map(|one| alive(one.number)).collect::<Vec<_>>()
                };
                let mut asks: Vec<String> = [of("MatchArm", ""), of("MatchArmGuard", "false")]
                    .concat()
                    .iter()
                    .map(|one| format!("!{one}"))
                    .collect();
                let holds = of("MatchArmGuard", "true");
                if let Some(guard) = guard {
                    asks.push(format!(
                        "({})",
                        [holds, vec![format!("({})", inner(guard))]].concat().join(" || ")
                    ));
                }
                let asks = asks.join(" && ");
                if guard.is_some() { asks } else { format!(" if {asks}") }
            }
            Shape::Fields => {
                let all = self.woven(place.range.clone(), index + 1, index);
                let without = |one: &Variant| {
                    let after = self.source[one.range.end..].trim_start();
                    let comma = self.source.len() - after.len();
                    let end = if after.starts_with(',') { comma + 1 } else { one.range.end };
                    let before = self.woven(place.range.start..one.range.start, index + 1, index);
                    before + &self.woven(end..place.range.end, index + 1, index)
                };
                format!("({})", self.choice(variants, without, &all))
            }
            Shape::Const => String::new(),
        }
    }
}
