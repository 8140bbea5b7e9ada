import { randomBytes } from 'node:crypto';

/** Makes keys of requests, of which `rotate` makes the second one current. */
export function rotatingKeys() {
  const keys = ['code-1', 'code-2'].map((id) => ({ id, bytes: new Uint8Array(randomBytes(32)) }));
  let [current] = keys;
  return {
    get current() {
      return { id: current?.id ?? '' };
    },
    byId: (wanted: string) => keys.find(({ id }) => id === wanted),
    rotate() {
      current = keys[1];
    },
  };
}
