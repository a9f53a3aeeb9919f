import type { User } from '../../auth/viewer.ts';
import type { Services } from '../../services.ts';
import type { Home } from './home.tsx';

/** The lists of the start page: what is new in each is worked out for it. */
const listsShown = 20;

/** The start page of a user: the lists with news first, then the others. */
export function homeOf({ lists, listSeen, listChanges, changes, news }: Services, user: User): Home {
  const latest = { page: 1, limit: 10 };
  const { rows, pagination } = lists.page(user, { page: 1, limit: listsShown });
  const withNews = rows.map((list) => ({
    list,
    seenAt: listSeen.of(user, list.id).seenAt,
    news: changes.since('seen', listChanges.news(user, list.id)),
  }));
  const isNothing = ({ news }: Home['lists']['rows'][number]) => Number(news.totals.stigs === 0);
  return {
    stats: news.stats(),
    changes: news.changelog(latest).changes,
    brought: news.lastImport(latest),
    lists: { rows: withNews.sort((a, b) => isNothing(a) - isNothing(b)), pagination },
  };
}
