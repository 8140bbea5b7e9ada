import { join } from 'node:path';
import { launchEngine } from '../../../../embedded-database/engine/child.ts';
import { temporaryFolder } from '../../../harness/temporary-folder.ts';
import { createEngineLink } from './engine-link.ts';
import type { State } from './states.ts';

/** Starts embedded engines, each with an empty database. */
export async function startEngines(count: number) {
  const dataDir = temporaryFolder('drill');
  const processes = await Promise.all(
    Array.from({ length: count }, (_, n) => launchEngine(join(dataDir, String(n)), 0)),
  );
  const states: State[] = processes.map(({ port }) => ({
    engine: createEngineLink(port),
    behind: new Map(),
  }));
  return {
    dataDir,
    states,
    async close(): Promise<void> {
      for (const { engine } of states) engine.close();
      await Promise.all(processes.map((process) => process.stop()));
    },
  };
}
