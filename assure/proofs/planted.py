"""Bugs to plant, each with a file, a function, code in it and the replacement (`anchors.py`).
Similar code has had each of these bugs."""

PLANTED = {
    "doubling-greater": ("isa/gf128.rs", "times_x", "wrapping_sub(a >> 127)", "wrapping_sub((a > 1 << 127) as u128)"),
    "halving-constant": ("isa/gf128.rs", "over_x", "(C >> 1) as u128", "C as u128"),
    "polynomial-160": ("cipher/field.rs", "", "160: 5 3 2 0;", "160: 5 3 1 0;"),
    "clamp-one-bit": (
        "algo/poly1305/field.rs",
        "ClampedR::clamped",
        "& 0x0ffffffc_0ffffffc_0ffffffc_0fffffff",
        "& 0x1ffffffc_0ffffffc_0ffffffc_0fffffff",
    ),
    "step-h2-dropped": ("algo/poly1305/field.rs", "ClampedR::step", "+ (h2 * r1_5_4) as u128", ""),
    "five-fourths": (
        "algo/poly1305/field.rs",
        "FieldElement::carried",
        "(a2 >> 2) + (a2 & !3)",
        "(a2 >> 2) + (a2 & !1)",
    ),
    "residue-greater": (
        "algo/poly1305/field.rs",
        "FieldElement::residue",
        "carry as u64 >= 4; let mask",
        "carry as u64 > 4; let mask",
    ),
    "radix26-carry-dropped": (
        "algo/poly1305/radix26.rs",
        "<impl Radix<A> for Radix26>::carry",
        "let d1 = a.add(d1, over(d0)); let (d2,",
        "let (d2,",
    ),
    "radix26-bits": ("algo/poly1305/radix26.rs", "BITS", "const BITS: u32 = 26;", "const BITS: u32 = 27;"),
    "radix26-five": (
        "algo/poly1305/radix26.rs",
        "<impl Radix<A> for Radix26>::carry",
        "a.add(c, a.shl(c, 2))",
        "a.add(c, a.shl(c, 1))",
    ),
    "radix44-top": ("algo/poly1305/radix44.rs", "TOP", "const TOP: u32 = 42;", "const TOP: u32 = 43;"),
    "radix44-no-carry": (
        "algo/poly1305/radix44.rs",
        "<impl Radix<A> for Radix44>::carry",
        "a.add(h1, a.shr(h0, BITS))",
        "h1",
    ),
    "radix26-carry-late": (
        "algo/poly1305/radix26.rs",
        "<impl Radix<A> for Radix26>::carry",
        "let d1 = a.add(d1, over(d0)); let (d2, d0) = (rest(d2), rest(d0));",
        "let d2 = rest(d2);",
    ),
    "radix44-twenty": (
        "algo/poly1305/radix44.rs",
        "<impl Radix<A> for Radix44>::power",
        "a.add(a.shl(x, 4), a.shl(x, 2))",
        "a.add(a.shl(x, 4), x)",
    ),
    "radix26-factor": (
        "algo/poly1305/radix26.rs",
        "<impl Radix<A> for Radix26>::power",
        "a.add(a.shl(x, 2), x)",
        "a.add(a.shl(x, 6), x)",
    ),
    "join-bit": ("algo/umac/poly.rs", "PolyKey<F>::join", "(2 * words).leading_zeros()", "words.leading_zeros()"),
    "l3-key": (
        "algo/umac/l3.rs",
        "L3Key::new",
        "*number = reduced(*number);",
        "",
    ),
    "mul52-half": ("isa/words.rs", "Words::mul52", "let high = self.add(high, self.shr(low, 52));", ""),
    "marker-one-bit": (
        "algo/umac/poly.rs",
        "<impl Field for u64>::is_marked",
        "overflowing_add(1 << 32)",
        "overflowing_add(1 << 33)",
    ),
    "marker-offset": (
        "algo/umac/poly.rs",
        "<impl Field for u64>::OFFSET",
        "const OFFSET: u64 = 59;",
        "const OFFSET: u64 = 58;",
    ),
    "poly64-last-fold": (
        "algo/umac/poly.rs",
        "<impl Field for u64>::times_plus",
        "opaque_word(a.wrapping_add(59 * carry as u64))",
        "opaque_word(a)",
    ),
    "poly128-carry": (
        "algo/umac/poly.rs",
        "<impl Field for u128>::times_plus",
        "above + carry as u128 + again as u128",
        "above + carry as u128",
    ),
    "poly-key-mask": ("algo/umac/key.rs", "HashKey::derive", "& 0x01ffffff_01ffffff;", "& 0x03ffffff_01ffffff;"),
    "l3-mask": ("algo/umac/l3.rs", "reduced", "let a = (a & ((1 << 36) - 1))", "let a = (a & ((1 << 37) - 1))"),
    "nh-lane": ("algo/umac/nh.rs", "add", "a.mul32(a.high32(left), a.high32(right))", "a.mul32(a.high32(left), right)"),
    "nh-key-order": (
        "algo/umac/nh.rs",
        "words",
        "[bytes[3], bytes[2], bytes[1], bytes[0]]",
        "[bytes[0], bytes[1], bytes[2], bytes[3]]",
    ),
    "gray-shift": ("algo/lightmac/strings.rs", "BitReader<'a, C>::fill", "{ i ^ i >> 1 }", "{ i ^ i >> 2 }"),
    "blocks-rounding": (
        "algo/lightmac/mod.rs",
        "<impl Hash for LightMac<C>>::blocks_in",
        "(bytes as u128 + 1) * self",
        "(bytes as u128) * self",
    ),
    "lightmac-limit": (
        "algo/lightmac/key.rs",
        "limit_bits",
        "((n - s) as u128) << s;",
        "((n - s) as u128) << (s + 1);",
    ),
    "elimac-mu": (
        "algo/elimac/families.rs",
        "<impl Families for AesFamilies<H, I>>::MU",
        "_ => u32::MAX as u64",
        "_ => 1 << 32",
    ),
    "period-correction": ("algo/pmac/mod.rs", "PmacTerms<'a, C, P>::next_period", ".xor(&correction);", ";"),
    "padding-bit": ("isa/block.rs", "one_at", "rows[bit][15] = 0x80 >> bit;", "rows[bit][15] = 0x40 >> bit;"),
    "padding-unused-bits": ("algo/xor.rs", "padded", "bytes.as_mut()[bits / 8] &= mask;", ""),
    "padding-end": ("algo/xor.rs", "XorSum<B>::with_end", "B::one_at(8 * rest)", "B::one_at(8 * rest + 1)"),
    "poly1305-end": (
        "algo/poly1305/hash.rs",
        "<impl Hash for Poly1305Hash>::finish_message",
        "127 - 8 * tail.len()",
        "126 - 8 * tail.len()",
    ),
    "tag-length": (
        "tag.rs",
        "<impl PartialEq for Tag>::eq",
        "opaque_word(differ) | (self.bits ^ other.bits) as u64 == 0",
        "opaque_word(differ) == 0",
    ),
    "pad-place": ("algo/umac/pad.rs", "pad_of", "(!1, !3)", "(!1, !1)"),
}


def change_of(name):
    """Returns a bug as a change (`anchors.py`)."""
    file, function, before, after = PLANTED[name]
    return {"file": f"crates/tagmac/src/{file}", "function": function, "before": before, "after": after}
