import { Logger, makeWorkerUtils, run, type WorkerUtils } from 'graphile-worker';
import { type Job, jobOf } from './events.ts';
import { serveQueue } from './program.ts';
import { attempts, concurrency, createSender } from './sender.ts';

/** A program: graphile-worker on PostgreSQL, a job for each delivery. Jobs are fetched and ended in batches, its fastest setting. */
const task = 'deliver';
const logger = new Logger(() => () => undefined);
let jobs: WorkerUtils;

serveQueue({
  async start(settings) {
    const send = createSender(settings);
    const { uri: connectionString } = settings;
    await run({
      connectionString,
      noHandleSignals: true,
      logger,
      taskList: { [task]: (payload) => send(payload as Job) },
      preset: {
        worker: {
          concurrentJobs: concurrency,
          pollInterval: 1000,
          maxPoolSize: 10,
          localQueue: { size: 5 * concurrency },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
        },
      },
    });
    jobs = await makeWorkerUtils({ connectionString, logger });
  },
  async add(events, runAt) {
    const when = runAt ? { runAt } : {};
    const wanted = events.map((event) => ({
      identifier: task,
      payload: jobOf(event),
      maxAttempts: attempts,
      ...when,
    }));
    const [first] = wanted;
    if (wanted.length > 1 || !first) await jobs.addJobs(wanted);
    else await jobs.addJob(task, first.payload, { maxAttempts: attempts, ...when });
  },
});
