package io.rowlock.saga;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Sagas that were found, the newest first.
 *
 * @param sagas at most as many as were asked for, without their states; may be fewer, or none, though there are more:
 *     a page looks at so many rows and not at all
 * @param end where the next page begins, or null if this is the last
 */
public record SagaPage(List<SagaView> sagas, @Nullable SagaCursor end) {
    public SagaPage {
        sagas = List.copyOf(sagas);
    }

    /**
     * Where the next page begins.
     *
     * @return the cursor for {@link SagaQuery#after}; empty if this is the last page
     */
    public Optional<SagaCursor> next() {
        return Optional.ofNullable(end);
    }
}
