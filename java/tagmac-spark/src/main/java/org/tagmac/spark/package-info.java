/** Functions of Spark SQL that tag and verify columns. */
package org.tagmac.spark;
