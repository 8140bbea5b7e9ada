import { MongoBackend } from '@agendajs/mongo-backend';
import { Agenda } from 'agenda';
import { connectPeer } from '../../peers/mongo-storage.ts';
import { type Job, jobOf } from './events.ts';
import { serveQueue } from './program.ts';
import { concurrency, createSender } from './sender.ts';

/** A program: Agenda on MongoDB, a job for each delivery. */
const name = 'deliver';
/** The most jobs that are stored at a time: Agenda stores each by a command of its own. */
const storedTogether = 100;
let agenda: Agenda;

serveQueue({
  async start(settings) {
    const send = createSender(settings);
    agenda = new Agenda({
      backend: new MongoBackend({ mongo: await connectPeer(settings.uri) }),
      processEvery: 1000,
      maxConcurrency: concurrency,
      defaultConcurrency: concurrency,
      removeOnComplete: true,
    });
    // Agenda expects a callback from a function with two parameters.
    agenda.define<Job>(name, (job) => send(job.attrs.data));
    await agenda.start();
  },
  async add(events, dueAt) {
    const waiting = [...events];
    async function store(): Promise<void> {
      for (let event = waiting.pop(); event; event = waiting.pop())
        await (dueAt ? agenda.schedule(dueAt, name, jobOf(event)) : agenda.now(name, jobOf(event)));
    }
    await Promise.all(Array.from({ length: Math.min(storedTogether, waiting.length) }, store));
  },
});
