package io.rowlock;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Which package may know which inside core. */
@AnalyzeClasses(locations = ArchitectureTest.MainClasses.class)
final class ArchitectureTest {
    private static final String[] EXPORTED = {
        "io.rowlock",
        "io.rowlock.alert",
        "io.rowlock.checkup",
        "io.rowlock.error",
        "io.rowlock.event",
        "io.rowlock.event.micrometer",
        "io.rowlock.event.opentelemetry",
        "io.rowlock.idempotency",
        "io.rowlock.job",
        "io.rowlock.lease",
        "io.rowlock.operation",
        "io.rowlock.schedule",
        "io.rowlock.schema",
        "io.rowlock.spi",
        "io.rowlock.tx",
        "io.rowlock.worker"
    };

    private static final DescribedPredicate<JavaCodeUnit> PUBLIC_API = DescribedPredicate.describe(
            "can be called from outside", unit -> visible(unit.getModifiers()) && isVisible(unit.getOwner()));

    /** The classes of this module, without tests and other modules. */
    static final class MainClasses implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> test) {
            return Set.of(Location.of(
                    Rowlock.class.getProtectionDomain().getCodeSource().getLocation()));
        }
    }

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("io.rowlock.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule only_the_builder_package_puts_internals_together = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.rowlock.alert",
                    "io.rowlock.checkup",
                    "io.rowlock.error",
                    "io.rowlock.event..",
                    "io.rowlock.idempotency",
                    "io.rowlock.job",
                    "io.rowlock.lease",
                    "io.rowlock.operation",
                    "io.rowlock.schedule",
                    "io.rowlock.schema",
                    "io.rowlock.spi",
                    "io.rowlock.worker")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.rowlock.internal..");

    @ArchTest
    static final ArchRule every_package_is_exported_or_internal = classes()
            .should()
            .resideInAnyPackage(Stream.concat(Stream.of(EXPORTED), Stream.of("io.rowlock.internal.."))
                    .toArray(String[]::new));

    @ArchTest
    static final ArchRule public_signatures_show_no_codec_type_and_no_jdbc_type_but_connections = codeUnits()
            .that()
            .areDeclaredInClassesThat()
            .resideInAnyPackage(EXPORTED)
            .and(PUBLIC_API)
            .should(showOnlyAllowedTypes());

    @ArchTest
    static final ArchRule only_the_sql_package_prepares_statements_and_reads_results = noClasses()
            .that()
            .resideOutsideOfPackage("io.rowlock.internal.sql")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(PreparedStatement.class, Statement.class, ResultSet.class);

    @ArchTest
    static final ArchRule jackson_is_used_by_the_built_in_codec_only = noClasses()
            .that()
            .doNotHaveFullyQualifiedName("io.rowlock.internal.outbox.JacksonCodec")
            .and()
            .doNotHaveFullyQualifiedName("io.rowlock.internal.outbox.EmptyBeans")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("com.fasterxml..");

    @ArchTest
    static final ArchRule adapters_alone_need_what_is_optional = noClasses()
            .that()
            .resideOutsideOfPackages("io.rowlock.event.micrometer", "io.rowlock.event.opentelemetry")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.micrometer..", "io.opentelemetry..", "io.rowlock.event.*");

    @ArchTest
    static final ArchRule no_static_field_changes =
            fields().that().areStatic().should().beFinal();

    @ArchTest
    static void only_the_sql_package_holds_sql(JavaClasses all) {
        Pattern sql =
                Pattern.compile("rowlock_(job|alert|schema|lease|partition)|SELECT |INSERT INTO|UPDATE |DELETE FROM");
        Set<String> holders = new TreeSet<>();
        Set<String> looked = new TreeSet<>();
        for (JavaClass each : all) {
            looked.add(each.getPackageName());
            if (!each.getPackageName().equals("io.rowlock.internal.sql")
                    && sql.matcher(constants(each.getSource().orElseThrow().getUri()))
                            .find()) {
                holders.add(each.getName());
            }
        }
        assertThat(looked).contains(EXPORTED);
        assertThat(holders).isEmpty();
    }

    private static ArchCondition<JavaCodeUnit> showOnlyAllowedTypes() {
        return new ArchCondition<>("show no type of Jackson and of JDBC only Connection and DataSource") {
            @Override
            public void check(JavaCodeUnit unit, ConditionEvents events) {
                Stream.concat(
                                Stream.concat(unit.getRawParameterTypes().stream(), Stream.of(unit.getRawReturnType())),
                                unit.getExceptionTypes().stream())
                        .filter(type -> !allowed(unit, type))
                        .forEach(type -> events.add(
                                SimpleConditionEvent.violated(unit, unit.getFullName() + " shows " + type.getName())));
            }
        };
    }

    /** The connection source may throw what a pool throws, and an error is made of what the driver threw. */
    private static boolean allowed(JavaCodeUnit unit, JavaClass type) {
        if (type.getPackageName().startsWith("java.sql")) {
            boolean errors = unit.getOwner().getPackageName().equals("io.rowlock.spi")
                    || unit.getOwner().getPackageName().equals("io.rowlock.error");
            return type.isEquivalentTo(Connection.class) || (type.isEquivalentTo(SQLException.class) && errors);
        }
        return !type.getPackageName().startsWith("com.fasterxml");
    }

    private static boolean isVisible(JavaClass type) {
        return visible(type.getModifiers())
                && type.getEnclosingClass().map(ArchitectureTest::isVisible).orElse(true);
    }

    private static boolean visible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static String constants(URI classFile) {
        try (InputStream in = classFile.toURL().openStream()) {
            return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
