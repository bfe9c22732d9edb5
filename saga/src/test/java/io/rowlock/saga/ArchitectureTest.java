package io.rowlock.saga;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Set;

/** What sagas may know: core's exported packages and the JDK, no JPA, no codec. */
@AnalyzeClasses(locations = ArchitectureTest.MainClasses.class)
final class ArchitectureTest {
    /** The classes of this module, without tests and other modules. */
    static final class MainClasses implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> test) {
            return Set.of(
                    Location.of(Saga.class.getProtectionDomain().getCodeSource().getLocation()));
        }
    }

    @ArchTest
    static final ArchRule packages_have_no_cycles =
            slices().matching("io.rowlock.(**)").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule definitions_know_the_public_side_of_core_alone = classes()
            .that()
            .resideInAPackage("io.rowlock.saga")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    "java.io",
                    "java.lang..",
                    "java.net",
                    "java.sql",
                    "java.time..",
                    "java.util..",
                    "org.jspecify.annotations",
                    "io.rowlock",
                    "io.rowlock.error",
                    "io.rowlock.event",
                    "io.rowlock.job",
                    "io.rowlock.spi",
                    "io.rowlock.worker",
                    "io.rowlock.saga");

    @ArchTest
    static final ArchRule sagas_know_no_framework = classes()
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "org.jspecify.annotations", "org.slf4j", "io.rowlock..");

    @ArchTest
    static final ArchRule sql_stands_with_the_statements = noClasses()
            .that()
            .resideOutsideOfPackage("io.rowlock.saga.internal.sql")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName("io.rowlock.internal.sql.Sql");

    @ArchTest
    static final ArchRule no_static_field_changes =
            fields().that().areStatic().should().beFinal();
}
