package io.rowlock.examples.orders.http;

import java.util.List;

/**
 * Why a request was refused.
 *
 * @param code for programs
 * @param reasons for people
 */
record Refusal(String code, List<String> reasons) {}
