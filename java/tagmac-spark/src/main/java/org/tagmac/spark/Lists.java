package org.tagmac.spark;

import java.util.ArrayList;
import java.util.ListIterator;
import scala.collection.Iterable;
import scala.collection.Iterator;
import scala.collection.immutable.$colon$colon;
import scala.collection.immutable.List;
import scala.collection.immutable.List$;

/** Lists of Scala, with a type that is a sequence in Scala 2.12 and in 2.13. */
final class Lists {
    private Lists() {}

    static <T> List<T> of(java.util.List<T> items) {
        List<T> list = List$.MODULE$.<T>empty();
        for (ListIterator<T> at = items.listIterator(items.size()); at.hasPrevious(); ) {
            list = new $colon$colon<>(at.previous(), list);
        }
        return list;
    }

    static <T> java.util.List<T> toJava(Iterable<T> items) {
        java.util.List<T> list = new ArrayList<>();
        for (Iterator<T> at = items.iterator(); at.hasNext(); ) {
            list.add(at.next());
        }
        return list;
    }
}
