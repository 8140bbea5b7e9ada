// Builds and starts the server, and does both again after each change of its code, pages or guides. Takes the environment of
// `npm start`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const watched = ['server', 'contracts', 'embedded-database', 'docs', '.config/site'];
/** Milliseconds in which changes count as one: an editor writes several files, or one file twice. */
const settleTime = 150;

let server;
let noteChange = () => undefined;

const run = (program) => spawn(process.execPath, [program], { stdio: 'inherit' });

async function stop() {
  if (!server || server.exitCode !== null) return;
  server.kill('SIGTERM');
  await once(server, 'exit');
}

for (const folder of watched) watch(folder, { recursive: true }, () => noteChange());
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await stop();
    process.exit();
  });

for (;;) {
  const changed = new Promise((resolve) => {
    noteChange = resolve;
  });
  const [code] = await once(run('.config/build.mjs'), 'exit');
  if (code === 0) {
    await stop();
    server = run('dist/server/main.js');
  } else process.stderr.write('The build failed. The server runs the code of the last build that did not.\n');
  await changed;
  await sleep(settleTime);
}
