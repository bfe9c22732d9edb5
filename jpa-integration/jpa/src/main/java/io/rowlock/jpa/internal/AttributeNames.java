package io.rowlock.jpa.internal;

import java.util.Set;
import java.util.TreeSet;

/** Checks the attributes that an annotation names. */
final class AttributeNames {
    private final EntityType type;
    private final Problems problems;

    AttributeNames(EntityType type, Problems problems) {
        this.type = type;
        this.problems = problems;
    }

    /** Attributes that updates are told apart by: {@code changed} or {@code ignoring}. */
    void checkUpdated(String where, String option, Set<String> attributes) {
        for (String attribute : attributes) {
            AttributeRole role = type.attributes().get(attribute);
            String named = option + " names ";
            if (role == null) {
                problems.add(where, named + unknown(attribute));
            } else if (role == AttributeRole.IDENTIFIER) {
                problems.add(where, named + "the id " + attribute + ", which never changes");
            } else if (role == AttributeRole.VERSION) {
                problems.add(
                        where,
                        named + "the version " + attribute + ", which every update changes; "
                                + (option.equals("changed")
                                        ? "leave changed out to get a job for each"
                                        : "leave it out"));
            } else if (role == AttributeRole.INVERSE) {
                problems.add(
                        where,
                        named + attribute + ", the mappedBy side of an association, which no column of " + type.name()
                                + " stores; annotate the entity on the other side");
            }
        }
    }

    /** An attribute whose value names a row: {@code orderedBy} or {@code subject}; empty for none. */
    void checkNaming(String where, String option, String attribute) {
        AttributeRole role = type.attributes().get(attribute);
        if (attribute.isEmpty() || role == AttributeRole.CHANGEABLE || role == AttributeRole.IDENTIFIER) {
            return;
        }
        String named = option + " names ";
        if (role == null) {
            problems.add(where, named + unknown(attribute));
        } else if (role == AttributeRole.EMBEDDED) {
            problems.add(where, named + "the embedded object " + attribute + "; name one attribute in it");
        } else if (role == AttributeRole.VERSION) {
            problems.add(where, named + "the version " + attribute + "; name the id, a basic attribute or a reference");
        } else if (role == AttributeRole.LAZY) {
            problems.add(
                    where,
                    named + "the lazy attribute " + attribute + ", which may not have been loaded when a job is made;"
                            + " make it eager, or name another");
        } else if (role == AttributeRole.WITHOUT_TEXT) {
            problems.add(
                    where,
                    named + attribute + ", which is stored as no text or number (serialized, JSON, XML, a LOB, or"
                            + " bound by a UserType that is no EnhancedUserType); name another, or give it a converter");
        } else {
            problems.add(
                    where,
                    named + attribute + ", which is not stored in the row; name the id, a basic attribute or a"
                            + " reference");
        }
    }

    private String unknown(String attribute) {
        Set<String> known = new TreeSet<>(type.attributes().keySet());
        return "the attribute " + attribute + ", which " + type.name() + " does not have"
                + Nearest.to(attribute, known)
                        .map(near -> "; did you mean " + near + "?")
                        .orElse("; it has " + known);
    }
}
