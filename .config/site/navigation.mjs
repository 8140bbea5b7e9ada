// The pages of the documentation site, in the order of reading. A page of docs/ that is not here is for maintainers, and the
// site does not have it.

/** @typedef {{ name: string, label: string }} Entry `name` is that of the file in docs/, and the last part of the address */

const entries = (pairs) => Object.entries(pairs).map(([name, label]) => ({ name, label }));

/** Each area has a link at the top of every page, and its groups beside the text. */
export const areas = [
  {
    label: 'Guides',
    groups: [
      {
        label: 'Begin',
        entries: entries({
          README: 'Overview',
          quickstart: 'Quickstart',
          'sdk-typescript': 'TypeScript',
          'sdk-python': 'Python',
          'sdk-php': 'PHP',
          recipes: 'Recipes',
        }),
      },
      {
        label: 'Build',
        entries: entries({
          flow: 'Hosted flow',
          'tokens-and-claims': 'Tokens and claims',
          'openid-connect': 'OpenID Connect',
          connect: 'Will my software connect?',
          storefront: 'Storefronts',
          webhooks: 'Webhooks',
          'limits-and-billing': 'Limits and billing',
          portal: 'Partner portal',
          svc: 'Command line svc',
          testing: 'Testing',
          security: 'Security',
        }),
      },
      {
        label: 'Look up',
        entries: entries({
          reference: 'API reference',
          errors: 'Errors',
          glossary: 'Glossary',
          'interface-0.8.0': 'The contract',
          choices: 'What it leaves open',
          'versioning-and-environments': 'Versioning',
          changelog: 'Changelog',
        }),
      },
    ],
  },
  {
    label: 'Operators',
    groups: [
      {
        label: 'Run',
        entries: entries({
          operations: 'Operations',
          runbooks: 'Runbooks',
          configuration: 'Configuration',
          sources: 'Verification sources',
          capacity: 'Capacity',
          retention: 'Retention',
        }),
      },
      { label: 'Support', entries: entries({ support: 'Questions', cli: 'svcadmin', roles: 'Roles' }) },
    ],
  },
];

/** Every page with the area that it is in. */
export const pages = areas.flatMap((area) =>
  area.groups.flatMap(({ entries: listed }) => listed.map((entry) => ({ ...entry, area }))),
);

/** Stands for the path of the base URL, which is known when a server starts. */
export const basePath = '__SVC_BASE_PATH__';
/** Stands for the base URL. */
export const baseUrl = '__SVC_BASE_URL__';

/** @param {string} name of a page, @returns its address on the site */
export const addressOf = (name) => `${basePath}/docs/${name === 'README' ? '' : name}`;
