package org.tagmac;

/** The session has used its reserve: reserve more, save, and store the result. */
public final class ReserveUsedUpException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    ReserveUsedUpException(String message) {
        super(message);
    }
}
