package io.rowlock.jpa.internal;

import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Checks the attributes that an annotation names. */
final class AttributeNames {
    private final EntityType type;
    private final Problems problems;

    AttributeNames(EntityType type, Problems problems) {
        this.type = type;
        this.problems = problems;
    }

    /** Attributes of which an update must have changed one. */
    void checkChanged(String where, Set<String> attributes) {
        attributes.forEach(each -> check(where, "changed", each, wrongInChanged(each)));
    }

    /** Attributes that do not count. One that no update of the application changes may stand here: it is ignored. */
    void checkIgnored(String where, Set<String> attributes) {
        attributes.forEach(each -> check(where, "ignoring", each, wrongInIgnoring(each)));
    }

    /** An attribute whose value names a row: {@code orderedBy} or {@code subject}; empty for none. */
    void checkNaming(String where, String option, String attribute) {
        if (!attribute.isEmpty()) {
            check(where, option, attribute, wrongInNaming(attribute));
        }
    }

    private void check(String where, String option, String attribute, @Nullable String wrong) {
        if (attribute.isBlank()) {
            problems.add(where, option + " names a blank attribute; leave it out");
        } else if (!type.attributes().containsKey(attribute)) {
            problems.add(where, option + " names " + unknown(attribute));
        } else if (wrong != null) {
            problems.add(where, option + " names " + wrong);
        }
    }

    private @Nullable String wrongInChanged(String attribute) {
        return switch (role(attribute)) {
            case CHANGEABLE, LAZY, WITHOUT_TEXT, EMBEDDED, COLLECTION -> null;
            case FIXED -> attribute + ", whose column no update changes (updatable = false); leave it out";
            case READ_ONLY ->
                attribute + ", whose column " + type.name() + " does not write by it (insertable ="
                        + " false, updatable = false); name the attribute that does";
            case GENERATED ->
                attribute + ", which the database makes after the change; name the attributes it is made"
                        + " of, or leave changed out and compare its values in a payload method with an EntityChange";
            case COMPUTED -> attribute + ", a formula, which no column stores; name the attributes it is made of";
            case IDENTIFIER -> "the id " + attribute + ", which never changes; leave it out";
            case VERSION ->
                "the version " + attribute + ", which every update changes; leave changed out to get a job for each";
            case INVERSE -> inverse(attribute);
        };
    }

    private @Nullable String wrongInIgnoring(String attribute) {
        return switch (role(attribute)) {
            case CHANGEABLE, LAZY, WITHOUT_TEXT, EMBEDDED, COLLECTION, FIXED, READ_ONLY, GENERATED -> null;
            case COMPUTED -> attribute + ", a formula, which no column stores; leave it out";
            case IDENTIFIER -> "the id " + attribute + ", which never changes; leave it out";
            case VERSION -> "the version " + attribute + ", which every update changes; leave it out";
            case INVERSE -> inverse(attribute);
        };
    }

    private @Nullable String wrongInNaming(String attribute) {
        return switch (role(attribute)) {
            case CHANGEABLE, FIXED, GENERATED, IDENTIFIER -> null;
            case LAZY ->
                attribute + ", which is lazy and may not be loaded when the row changes; make it eager, or name"
                        + " another attribute";
            case WITHOUT_TEXT ->
                attribute + ", which is stored as no text or number (serialized, JSON, XML, a LOB, or bound by a"
                        + " UserType that is no EnhancedUserType); name another, or give it a converter";
            case READ_ONLY ->
                attribute + ", whose column " + type.name() + " does not write by it (insertable ="
                        + " false, updatable = false), so that it may hold another value; name the attribute that does";
            case COMPUTED ->
                attribute + ", a formula, whose value is not known when the row is written; name the id, a"
                        + " basic attribute or a reference";
            case EMBEDDED -> "the embedded object " + attribute + "; name one attribute in it";
            case VERSION -> "the version " + attribute + "; name the id, a basic attribute or a reference";
            case COLLECTION, INVERSE ->
                attribute + ", which is not stored in the row; name the id, a basic attribute or a reference";
        };
    }

    private String inverse(String attribute) {
        return attribute + ", the mappedBy side of an association, which no column of " + type.name()
                + " stores; annotate the entity on the other side";
    }

    /** Its role; any one where it is not known, which is told before. */
    private AttributeRole role(String attribute) {
        return type.attributes().getOrDefault(attribute, AttributeRole.CHANGEABLE);
    }

    private String unknown(String attribute) {
        Set<String> known = new TreeSet<>(type.attributes().keySet());
        return "the attribute " + attribute + ", which " + type.name() + " does not have"
                + Nearest.to(attribute, known)
                        .map(near -> "; did you mean " + near + "?")
                        .orElse("; it has " + known);
    }
}
