package io.rowlock.hibernate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the words of an SQL text say of tables. */
@Tag("B05")
final class TouchedTableTest {
    private static String touched(String sql) {
        return String.join(
                "; ",
                TouchedTable.in(sql).stream()
                        .map(each -> each.name() + " " + new TreeSet<>(each.changes()))
                        .toList());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "update note n set text = 'x' where n.id = 1 | note [UPDATE]",
                "UPDATE ONLY public.Note SET text = '' | public.note [UPDATE]",
                "update only (public.note) set text = '' | public.note [UPDATE]",
                "delete from only ( note ) where id = 1 | note [REMOVE]",
                "delete from \"My Note\" where id = ? | mynote [REMOVE]",
                "Delete  From app . note | app.note [REMOVE]",
                "insert into note(id) select id from other | note [PERSIST]",
                "insert into note(id) values (1) on conflict (id) do update set text = 'x' | note [PERSIST, UPDATE]; set [UPDATE]",
                "merge into note using other on true when matched then delete | note [PERSIST, UPDATE, REMOVE]",
                "truncate table note | note [REMOVE]",
                "truncate only a.one *, \"Two\" , three restart identity; update b set c = 1 | a.one [REMOVE]; two [REMOVE]; three [REMOVE]; b [UPDATE]",
                "insert into a values (E'it\\'s'); update b set c = E'x''y\\'z' where d | a [PERSIST]; b [UPDATE]",
                "insert into a values ('\\'); update b set c = 'E' | a [PERSIST]; b [UPDATE]",
                "insert into a values ($$update x$$, $t$ $$ delete from y $$ $t$, $1); update b$c$ set d = 1 | a [PERSIST]; b$c$ [UPDATE]",
                "do $$ begin update b set c = 'delete from d'; end $$ | b [UPDATE]",
                "do language plpgsql $x$ delete from b $x$ | b [REMOVE]",
                "/* a /* b */ update c */ update d set e = 1 | d [UPDATE]",
                "update \"it's\" set a = '--' where b /* ' */ | it's [UPDATE]",
                "with moved as (delete from note returning *) insert into archive select * from moved | note [REMOVE]; archive [PERSIST]",
                "/* update a */ update b set c = 'delete from d' -- update e | b [UPDATE]",
                "select 'it''s update a' from b for update | ``",
                "select * from updates where deleted = true | ``"
            })
    void tables_and_changes_are_found(String sql, String expected) {
        assertThat(touched(sql)).isEqualTo(expected);
    }

    @Test
    void long_text_is_no_trouble() {
        String text = "x".repeat(1 << 20);
        assertThat(touched("update note set text = '" + text + "' where /* " + text + " */ true"))
                .isEqualTo("note [UPDATE]");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "unknown",
            quoteCharacter = '`',
            value = {
                "update t as x set a = 1, \"B\"=b + 1 where c = 3 | a b",
                "update t set a = (select x from y where z = 1), b = coalesce(c, d) from e where f = 1 | a b",
                "update t set a = b is distinct from c, d = case when e then f else g end returning h = 1 | a d",
                "update t set (a, \"b\") = (1, 2), c = array[1, 2] | a b c",
                "with x as (update t set a = 1) select b = 2 from x | a",
                "insert into t(a) values (1) on conflict (a) do update set b = excluded.b, c = 1 where t.d | b c",
                "update t set a[1] = 2 | unknown",
                "update t set a.b = 2 | unknown",
                "merge into t using s on true when matched then update set a = 1 | unknown",
                "delete from t where a = 1 | unknown"
            })
    void columns_are_known_where_the_text_is_surely_understood(String sql, String expected) {
        Set<String> columns = TouchedTable.in(sql).get(0).columns();
        assertThat(columns == null ? null : String.join(" ", new TreeSet<>(columns)))
                .isEqualTo(expected);
    }

    @Test
    void truncation_says_whether_it_goes_on_to_referring_tables() {
        assertThat(TouchedTable.in("truncate a, b cascade"))
                .allMatch(TouchedTable::cascades)
                .hasSize(2);
        assertThat(TouchedTable.in("truncate a; select cascade"))
                .noneMatch(TouchedTable::cascades)
                .hasSize(1);
    }

    @Test
    void columns_that_are_given_a_value_are_those_before_the_condition() {
        TouchedTable table =
                TouchedTable.in("update t set a = 1, \"B\"=2 where c = 3").get(0);
        assertThat(table.assigns("a")).isTrue();
        assertThat(table.assigns("b")).isTrue();
        assertThat(table.assigns("c")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "with x as (delete from note returning id) select id from x",
                "/* hint */ WITH x as (update note set a = 1) select 1",
                "insert into note values (1) returning id",
                " delete from note returning *"
            })
    void queries_that_change_rows_are_recognised(String sql) {
        assertThat(TouchedTable.mayBeIn(sql)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"select * from note", "(select 1) union (select 2)", "values (1)", "", "call withdraw()"})
    void plain_queries_are_left_alone(String sql) {
        assertThat(TouchedTable.mayBeIn(sql)).isFalse();
    }

    @Test
    void schema_counts_where_both_sides_have_one() {
        TouchedTable plain = TouchedTable.in("update note set a = 1").get(0);
        TouchedTable qualified = TouchedTable.in("update app.note set a = 1").get(0);
        assertThat(plain.is("note")).isTrue();
        assertThat(plain.is("app.note")).isTrue();
        assertThat(plain.is("footnote")).isFalse();
        assertThat(qualified.is("note")).isTrue();
        assertThat(qualified.is("app.note")).isTrue();
        assertThat(qualified.is("other.note")).isFalse();
    }
}
