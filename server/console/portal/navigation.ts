import type { MemberRole } from '../../../contracts/admin/members.ts';
import { isAllowed } from './calls/scope.ts';
import type { Messages } from './messages/en.ts';
import { menu } from './views/kit/menu.ts';
import { keepMode } from './views/kit/mode-switch.ts';
import type { Given, PageRow } from './views/kit/page.ts';

/** A group of the menu. Without a title, its only entry stands alone. `current`: whether the topic of the entry is shown. */
export interface MenuGroup {
  title?: string;
  entries: { href: string; text: string; current: boolean }[];
}

// The topic is the first part of the path: `clients` for `/clients/:client`.
const topicOf = ({ path }: PageRow) => path.split('/')[1];

/** The menu with the pages that the member may open. A group without such a page is absent. */
export function navigationOf(
  pages: readonly PageRow[],
  shown: PageRow,
  { root, role, m, query }: { root: string; role: MemberRole; m: Messages; query: Given },
): MenuGroup[] {
  return menu.flatMap((group) => {
    const entries = group.pages.flatMap((name) =>
      pages
        .filter(({ nav, needs }) => nav === name && isAllowed(role, needs))
        .map((page) => ({
          href: `${root}${keepMode(page.path, query)}`,
          text: m[name],
          current: topicOf(page) === topicOf(shown),
        })),
    );
    if (entries.length === 0) return [];
    return ['title' in group ? { title: m[group.title], entries } : { entries }];
  });
}
