//! The definition of a forgery.

use tagmac_lab::attacks::game::Game;

#[test]
fn what_was_asked_for_is_no_forgery() {
    let tags = |nonce: &[u8], message: &[u8]| vec![nonce.len() as u8, message.len() as u8];
    let mut game = Game::new(Box::new(tags));
    let tag = game.ask_with(&[1], b"ab");
    assert!(!game.forges_with(&[1], b"ab", &tag));
    assert!(game.forges_with(&[1], b"cd", &tag) && game.forges_with(&[2], b"ab", &tag));
    assert!(!game.forges_with(&[1], b"abc", &tag));
    assert_eq!(game.queries(), 1);
}
