package org.tagmac;

import java.io.IOException;

/** Bytes differ from those that were sealed: do not use them. The message names the file. */
public class DamagedFileException extends IOException {
    private static final long serialVersionUID = 1;

    /** Makes the exception. */
    public DamagedFileException(String message) {
        super(message);
    }
}
