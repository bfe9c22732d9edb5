package io.rowlock.hibernate.versions;

import jakarta.data.repository.Delete;
import jakarta.data.repository.Insert;
import jakarta.data.repository.Repository;
import jakarta.data.repository.Save;
import jakarta.data.repository.Update;

/** Hibernate's annotation processor writes the class behind it. */
@Repository
interface Library {
    @Insert
    void insert(Book book);

    @Update
    void update(Book book);

    @Delete
    void delete(Book book);

    @Save
    void save(Book book);
}
