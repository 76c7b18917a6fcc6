/** A file system of Hadoop that verifies what it reads. */
package org.tagmac.hadoop;
