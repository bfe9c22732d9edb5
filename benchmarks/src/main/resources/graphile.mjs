// Works a backlog off with graphile-worker: node graphile.mjs <its package's folder> <url> <schema> <jobs>
// Says "ready", waits for a line, says "done" when all tasks have run, waits for another line and stops.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, connectionString, schema, jobs] = process.argv.slice(2);
const require = createRequire(pathToFileURL(folder + "/"));
const { Logger, run, runMigrations } = require("graphile-worker");

const logger = new Logger(() => (level, message) => level === "error" && console.error(message));
const preset = {
  worker: {
    connectionString,
    schema,
    concurrentJobs: 24,
    maxPoolSize: 25,
    pollInterval: 2000,
    preparedStatements: true,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
    logger,
  },
};

await runMigrations({ preset });
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
console.log("ready");
await lines.next();
let left = Number(jobs);
const runner = await run({
  preset,
  noHandleSignals: true,
  taskList: {
    noop: async () => {
      if (--left === 0) console.log("done");
    },
  },
});
await lines.next();
await runner.stop();
process.exit(0);
