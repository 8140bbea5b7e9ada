import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startOurs } from './contenders/ours.ts';
import type { DatabaseServer } from './database.ts';
import type { Load } from './load/load.ts';
import { root } from './processes.ts';

/** The parts of `node --cpu-prof` output that are used here. Times are in microseconds. */
interface CpuProfile {
  startTime: number;
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

interface Share {
  name: string;
  /** Share of the time in the window, 0 to 1. */
  share: number;
}

export interface ProfileSummary {
  functions: Share[];
  places: Share[];
}

/** The clock of profiles, in microseconds. */
const profileTime = () => Number(process.hrtime.bigint() / 1000n);

/** The package or folder that a script belongs to. */
function placeOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (url.startsWith('node:')) return 'node';
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)(?!.*node_modules)/.exec(url)?.[1];
  if (inPackage) return inPackage;
  return /dist\/(server\/[^/]+|contracts)/.exec(url)?.[1] ?? url;
}

function functionOf({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const path = url.startsWith('file:') ? fileURLToPath(url) : url;
  const short = path.replace(`${root}/`, '').replace(/.*node_modules\//, '');
  return `${name} ${short}:${lineNumber + 1}`;
}

function sharesOf(times: Map<string, number>, total: number): Share[] {
  return [...times].map(([name, time]) => ({ name, share: time / total })).sort((a, b) => b.share - a.share);
}

/** Own time by function and by package between two readings of `profileTime`. */
function summarise(file: string, { from, to }: { from: number; to: number }): ProfileSummary {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const functions = new Map<string, number>();
  const places = new Map<string, number>();
  let at = profile.startTime;
  let total = 0;
  for (const [n, id] of profile.samples.entries()) {
    const took = profile.timeDeltas[n] ?? 0;
    at += took;
    const frame = frames.get(id);
    if (at < from || at > to || !frame) continue;
    total += took;
    for (const [times, key] of [
      [functions, functionOf(frame)],
      [places, placeOf(frame)],
    ] as const) {
      times.set(key, (times.get(key) ?? 0) + took);
    }
  }
  if (total === 0) throw new Error('the profile has no samples within the load');
  return { functions: sharesOf(functions, total), places: sharesOf(places, total) };
}

const callers = 64;
/** Additional requests for each second of a round, and for the warm-up. */
const requestsPerSecond = 3000;

/** Profiles our server alone, with 64 callers of one partner. */
export async function profileExchange({
  database,
  load,
  seconds,
  directory,
}: {
  database: DatabaseServer;
  load: Load;
  seconds: number;
  /** An empty directory for the profiler's output. */
  directory: string;
}): Promise<ProfileSummary> {
  const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${directory}`];
  const ours = await startOurs({
    database,
    load,
    name: 'profiled',
    processes: [1],
    partnerCount: 0,
    nodeOptions,
  });
  const [contender] = ours.contenders;
  if (!contender) throw new Error('no server to profile');
  const { origins, tokenPath: path } = contender;
  const window = { from: 0, to: 0 };
  for (const count of [requestsPerSecond, Math.round(requestsPerSecond * seconds)]) {
    const requests = await contender.prepareExchanges(count, 'one');
    window.from = profileTime();
    await load.run({ origins, path, requests, callers });
    window.to = profileTime();
    await contender.settle(count);
  }
  await ours.stop();
  const [name] = readdirSync(directory).filter((entry) => entry.endsWith('.cpuprofile'));
  if (!name) throw new Error(`no profile was written to ${directory}`);
  return summarise(join(directory, name), window);
}
