package org.tagmac;

/** The key's budget or its nonces are used up: use a new key. */
public final class BudgetExhaustedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    BudgetExhaustedException(String message) {
        super(message);
    }
}
