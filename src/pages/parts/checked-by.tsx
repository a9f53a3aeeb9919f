import { path } from './components.tsx';

/** How a rule is checked, by shape and words, because color alone tells some readers nothing. */
const states = {
  automated: { shape: '⚙', name: 'Scan' },
  stale: { shape: '◔', name: 'Older text' },
  manual: { shape: '☞', name: 'By hand' },
  none: { shape: '–', name: 'No SCAP content' },
} as const;

/** The state of automation of a rule (rule D38.2). */
export function Automation({ state }: { state: keyof typeof states }) {
  const { shape, name } = states[state];
  return (
    <span class="checked">
      <span aria-hidden="true">{shape}</span> {name}
    </span>
  );
}

/** The names of the states, for the heads of tables and in sentences. */
export const stateNames = {
  automated: states.automated.name,
  stale: states.stale.name,
  manual: states.manual.name,
  none: states.none.name,
};

/** The page that shows what machines check of a STIG. */
export const automationPath = (slug: string) => path('stigs', slug, 'automation');
