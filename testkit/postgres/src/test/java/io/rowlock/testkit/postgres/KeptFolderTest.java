package io.rowlock.testkit.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class KeptFolderTest {

    @TempDir
    private Path temporary;

    private final AtomicInteger fillings = new AtomicInteger();
    private Path folder;

    @BeforeEach
    void choose() {
        folder = temporary.resolve("kept");
    }

    @Test
    void whole_folder_is_filled_once() {
        assertThat(KeptFolder.whole(folder, this::fill)).isEqualTo(folder);
        KeptFolder.whole(folder, this::fill);
        assertThat(fillings).hasValue(1);
        assertThat(folder.resolve("bin/a")).exists();
    }

    @Test
    void folder_that_lost_a_file_is_filled_again() throws Exception {
        KeptFolder.whole(folder, this::fill);
        Files.delete(folder.resolve("bin/a"));
        KeptFolder.whole(folder, this::fill);
        assertThat(fillings).hasValue(2);
        assertThat(folder.resolve("bin/a")).exists();
    }

    @Test
    void failed_filling_leaves_nothing_that_looks_whole() {
        assertThatThrownBy(() -> KeptFolder.whole(folder, half -> {
                    fill(half);
                    throw new IOException("disk full");
                }))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("disk full");
        assertThat(folder).doesNotExist();
        KeptFolder.whole(folder, this::fill);
        assertThat(fillings).hasValue(2);
    }

    private void fill(Path half) throws IOException {
        fillings.incrementAndGet();
        Files.createDirectories(half.resolve("bin"));
        Files.createFile(half.resolve("bin/a"));
        Files.createFile(half.resolve("bin/b"));
    }
}
