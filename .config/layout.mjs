// The rules of the layout of server/, as functions: see .config/floors.json. `check-imports.mjs` runs them.

/**
 * The room of a file of server/. Entries such as `server/main.ts` belong to the top floor.
 * @returns undefined for a file elsewhere
 */
function roomOf(path, { floors, entries }) {
  if (entries.includes(path)) return floors.at(-1).room;
  return /^server\/(?:([^/]+)\/)?/.exec(path)?.[1] ?? (path.startsWith('server/') ? '' : undefined);
}

/**
 * Finds imports that lead up, and imports that pass by the entrance of a room.
 * @param modules `{ source, dependencies: [{ resolved }] }`, as dependency-cruiser lists them
 * @returns one line for each fault
 */
export function importFaults(modules, layout) {
  const { floors, apart } = layout;
  const rooms = floors.map(({ room }) => room);
  const faults = [];
  for (const { source, dependencies } of modules) {
    const room = roomOf(source, layout);
    if (room === undefined) continue;
    if (!rooms.includes(room) && !(room in apart)) {
      faults.push(`${source} is in no room of .config/floors.json`);
      continue;
    }
    for (const { resolved } of dependencies) {
      const other = roomOf(resolved, layout);
      if (other === undefined || other === room) continue;
      const line = `${source} -> ${resolved}`;
      if (room in apart) faults.push(`${room} stands apart: ${line}`);
      else if (other in apart && room !== rooms.at(-1)) faults.push(`${other} stands apart: ${line}`);
      else if (rooms.indexOf(other) > rooms.indexOf(room)) faults.push(`an import leads up: ${line}`);
      const { entrance } = floors.find((floor) => floor.room === other) ?? {};
      if (entrance && resolved !== `server/${other}/${entrance}`) faults.push(`not by the entrance: ${line}`);
    }
  }
  return faults;
}

/** The most files of a folder. */
const mostFiles = 15;

/**
 * Finds folders of server/ with too many files, and folders of a single file. In api/, the path is the URL, so a folder there may
 * hold one.
 * @param paths the files of the repository
 */
export function folderFaults(paths) {
  const folders = new Map();
  for (const path of paths.filter((each) => /^server\/.*\//.test(each))) {
    const folder = path.replace(/\/[^/]*$/, '');
    folders.set(folder, [...(folders.get(folder) ?? []), path]);
  }
  const faults = [];
  for (const [folder, files] of folders) {
    const hasFolders = [...folders.keys()].some((other) => other.startsWith(`${folder}/`));
    if (files.length > mostFiles) faults.push(`${folder} has ${files.length} files, more than ${mostFiles}`);
    if (files.length === 1 && !hasFolders && !folder.startsWith('server/api/')) faults.push(`${folder} has a single file`);
  }
  return faults;
}

/** The declaration of a collection's name, in the store that owns the collection. */
const declaration = /^(?:export )?const \w*[cC]ollection = '(\w+)'/gm;
/** Places where a name in quotes would read a collection: an accessor, a look-up and a union. */
const uses = /\.collection(?:<[^()]*>)?\(\s*'(\w+)'|\b(?:from|coll|collection): '(\w+)'/g;

/**
 * Finds collections whose name is written in two stores, and reads of a collection by its name. A room that reads the
 * collection of another one imports the name from its store, so that the floors hold for the read too.
 * @param files `{ path, text }` of each file of server/
 */
export function collectionFaults(files) {
  const owners = new Map();
  const faults = [];
  for (const { path, text } of files)
    for (const [, name] of text.matchAll(declaration)) {
      if (owners.has(name)) faults.push(`${path} and ${owners.get(name)} both name the collection ${name}`);
      owners.set(name, path);
    }
  for (const { path, text } of files)
    for (const [, accessed, looked] of text.matchAll(uses))
      if (accessed !== undefined || owners.has(looked))
        faults.push(`${path} names the collection ${accessed ?? looked}: import the name from its store`);
  return faults;
}

/** A statement that decides or repeats, at the beginning of a line, where the formatter puts it. */
const logic = /^\s*(?:\} )?(?:if|else|for|while|do|switch|try|catch|throw)\b/m;

/**
 * Finds logic in the wiring, which only makes the parts of the service and connects them.
 * @param files as for `collectionFaults`
 */
export const wiringFaults = (files) =>
  files
    .filter(({ path }) => path.startsWith('server/process/wiring/') && !path.endsWith('/upward-calls.ts'))
    .flatMap(({ path, text }) => {
      const found = logic.exec(text)?.[0].trim();
      return found ? [`${path} has logic (${found}): the wiring only makes parts, so put this into a room`] : [];
    });

/** A title that begins with one of these is no sentence: it has neither a subject nor a verb in front. */
const openings =
  'for|of|that|when|whose|without|with|in|what|as|so|after|where|from|by|to|who|on|before|at|also|while|not|no|nor|and|or|but|than|until|between|beside|behind|under|over|per|if|else|because|it|its|they|their|we|both|which|how|into|against|during|within|across|through|this|these|those|only|even|then';
/** The text after `it(`, and after `it.each(…)(`. */
const title = new RegExp(`(?:\\b(?:it|test)(?:\\.\\w+)*|\\))\\(\\s*(['"\`])((?:${openings})\\b.*?)\\1`, 'gi');

/** The title of a `describe.each` names a condition. */
const eachDescribe = /\bdescribe(?:\.\w+)*\.each\([^]*?\)\(\s*/g;

/**
 * Finds titles of tests that are no sentences.
 * @param files as for `collectionFaults`, of the tests
 */
export const titleFaults = (files) =>
  files.flatMap(({ path, text }) =>
    [...text.replace(eachDescribe, '').matchAll(title)].map(
      ([, , words]) =>
        `${path}: "${words}" is no sentence. Where the describe is the subject, begin with a verb ('accepts a token'); else with a noun.`,
    ),
  );

/**
 * Draws the floors: a picture with the arrows that no longer way replaces, and a table of which room imports which.
 * @param modules as for `importFaults`
 * @returns Markdown
 */
export function drawFloors(modules, layout) {
  const rooms = layout.floors.map(({ room }) => room);
  const imports = new Set();
  for (const { source, dependencies } of modules) {
    const from = roomOf(source, layout);
    if (!rooms.includes(from)) continue;
    for (const { resolved } of dependencies) {
      const to = roomOf(resolved, layout);
      if (to !== from && rooms.includes(to)) imports.add(`${from} ${to}`);
    }
  }
  const has = (from, to) => imports.has(`${from} ${to}`);
  const reaches = (from, to) => has(from, to) || rooms.some((via) => has(from, via) && reaches(via, to));
  const isDirect = (from, to) => !rooms.some((via) => has(from, via) && reaches(via, to));
  const down = rooms.toReversed();
  const arrows = down.flatMap((from) =>
    down.filter((to) => has(from, to) && isDirect(from, to)).map((to) => `  ${from} --> ${to}`),
  );
  const number = (room) => rooms.indexOf(room) + 1;
  const rows = down.map((from) => {
    const cells = down.map((to) => (has(from, to) ? '×' : ''));
    return `| ${number(from)} ${from} | ${cells.join(' | ')} |`;
  });
  return [
    '```mermaid',
    'flowchart TB',
    ...arrows,
    '```',
    '',
    '| room of `server/` | holds |',
    '|---|---|',
    ...layout.floors.toReversed().map(({ room, holds }) => `| `+'`'+`${room}/`+'`'+` | ${holds} |`),
    '',
    `| imports of | ${down.map(number).join(' | ')} |`,
    `|---|${down.map(() => ':-:|').join('')}`,
    ...rows,
  ].join('\n');
}
