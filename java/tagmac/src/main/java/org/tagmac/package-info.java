/** Message authentication with the parallel MACs PMAC, LightMAC, EliMAC, Poly1305 and UMAC. */
package org.tagmac;
