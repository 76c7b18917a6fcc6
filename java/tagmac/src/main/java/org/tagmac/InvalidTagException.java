package org.tagmac;

import java.security.GeneralSecurityException;

/** The tag does not match the message: do not use the message. */
public final class InvalidTagException extends GeneralSecurityException {
    private static final long serialVersionUID = 1;

    InvalidTagException() {
        super("the tag does not match the message");
    }
}
