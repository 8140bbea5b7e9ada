import { Queue, Worker } from 'bullmq';
import { type Job, jobOf } from './events.ts';
import { serveQueue } from './program.ts';
import { attempts, concurrency, createSender } from './sender.ts';

/** A program: BullMQ on Redis, a job for each delivery. */
const name = 'deliveries';
const options = { attempts, backoff: { type: 'exponential', delay: 1000 }, removeOnComplete: true };
let queue: Queue<Job>;

serveQueue({
  async start(settings) {
    const { hostname: host, port } = new URL(settings.uri);
    const connection = { host, port: Number(port), maxRetriesPerRequest: null };
    const send = createSender(settings);
    queue = new Queue(name, { connection });
    const worker = new Worker<Job>(name, ({ data }) => send(data), { connection, concurrency });
    await worker.waitUntilReady();
  },
  async add(events, dueAt) {
    const delay = dueAt ? Math.max(0, dueAt.getTime() - Date.now()) : 0;
    const jobs = events.map((event) => ({ name, data: jobOf(event), opts: { ...options, delay } }));
    const [first] = jobs;
    if (jobs.length === 1 && first) await queue.add(name, first.data, first.opts);
    else await queue.addBulk(jobs);
  },
});
