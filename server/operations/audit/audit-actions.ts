import { closest } from '../../../contracts/closest.ts';
import { permissions } from '../../platform/admin-api/roles.ts';
import { ApiError } from '../../platform/errors.ts';

/** Every action that an entry can have: the procedures, and the acts that no procedure makes. */
const actions: readonly string[] = [
  ...Object.keys(permissions).filter((path) => !path.startsWith('/')),
  'members.signIn',
  ...['members.accept', 'members.addPasskey', 'members.removePasskey'],
  ...['devices.confirm', 'devices.deny', 'devices.allow', 'devices.end'],
  'database.restored',
];

/** Converts the words of a command to the name of a procedure: `clients rotate-secret` to `clients.rotateSecret`. */
const asAction = (text: string): string =>
  text
    .trim()
    .replaceAll(/[\s.]+/g, '.')
    .replaceAll(/-(?<letter>[a-z])/g, (_match, letter: string) => letter.toUpperCase());

/**
 * Returns the actions that a text names.
 * @param text an action (`partners.suspend`), a command (`partners suspend`), or the beginning of several (`partners`)
 * @throws ApiError `bad_input` if there is no such action, with the nearest one
 */
export function actionsNamed(text: string): string[] {
  const wanted = asAction(text);
  if (actions.includes(wanted)) return [wanted];
  const begun = wanted === '' ? [] : actions.filter((action) => action.startsWith(wanted));
  if (begun.length > 0) return begun;
  const topics = actions.map((action) => action.split('.')[0] ?? '');
  const nearest = closest(wanted, [...actions, ...topics]);
  const [topic] = wanted.split('.');
  const ofTopic = actions.filter((_action, at) => topics[at] === topic);
  const known = ofTopic.length === 0 ? '' : `. ${topic} has: ${ofTopic.join(', ')}`;
  const guess = nearest === undefined ? `${known}.` : `; did you mean ${nearest}?`;
  throw new ApiError('bad_input', {
    description: `action: no action is named ${text.slice(0, 60)}${guess} Name a procedure (partners.suspend), a command or its topic (partners)`,
  });
}
