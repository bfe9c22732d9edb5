package io.rowlock.saga.engine;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rowlock.Rowlock;
import io.rowlock.error.InvalidUseException;
import io.rowlock.saga.Branch;
import io.rowlock.saga.Saga;
import io.rowlock.saga.SagaBuilder;
import io.rowlock.saga.SagaDefinition;
import io.rowlock.saga.SagaType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Children that could not be started are refused where the engine is built. */
@Tag("P8")
class ChildDefinitionsTest {
    private static final SagaType<String> CHILD = SagaType.named("child", String.class);
    private static final SagaDefinition<Integer> PARENT = ChildDefinitionsTest::parent;

    private static SagaEngineBuilder builder() {
        return SagaEngine.builder(Rowlock.builder()
                .connections(() -> {
                    throw new AssertionError("no SQL");
                })
                .build());
    }

    private static Saga<Integer> parent(SagaBuilder<Integer> saga) {
        return saga.named("parent", Integer.class)
                .version(1)
                .child("sub", CHILD)
                .startedWith(String::valueOf)
                .completed((state, child) -> state)
                .noCompensation()
                .parallel(
                        "both",
                        Branch.branch(
                                "one",
                                chain -> chain.child("deep", SagaType.named("other", Long.class))
                                        .startedWith(Long::valueOf)
                                        .completed((state, child) -> state)
                                        .noCompensation()),
                        Branch.branch(
                                "two",
                                chain -> chain.step("a")
                                        .call((state, step) -> state)
                                        .noCompensation()))
                .join((state, results) -> state)
                .build();
    }

    private static <S> SagaDefinition<S> chain(String name, int version, Class<S> state) {
        return saga -> saga.named(name, state)
                .version(version)
                .step("a")
                .call((value, step) -> value)
                .noCompensation()
                .build();
    }

    @Test
    void all_that_are_not_registered_or_have_another_state_are_named_at_once() {
        SagaEngineBuilder wrong = builder()
                .register(PARENT)
                .register(chain("child", 1, String.class))
                .register(chain("child", 2, Integer.class));
        assertThatThrownBy(wrong::build)
                .isInstanceOf(InvalidUseException.class)
                .hasMessageContaining("child \"sub\" of Saga parent version 1: Saga child version 2 has states of"
                        + " java.lang.Integer, not of java.lang.String")
                .hasMessageContaining("child \"deep\" of Saga parent version 1: No saga other is registered");
    }

    @Test
    void those_that_are_registered_are_not() {
        assertThatCode(builder()
                        .register(PARENT)
                        .register(chain("child", 1, Integer.class))
                        .register(chain("child", 2, String.class))
                        .register(chain("other", 1, Long.class))::build)
                .doesNotThrowAnyException();
    }
}
