import type { Cklb } from '../../src/catalog/stigs/cklb-schema.ts';

/** What STIG Manager's reader makes of one STIG in a checklist. */
export interface ReadChecklist {
  benchmarkId: string;
  revisionStr: string | null;
  reviews: { ruleId: string; result: string; detail: string; comment: string }[];
  stats: Record<string, number>;
}

interface ReadFile {
  target: { name: string; ip: string | null; fqdn: string | null; mac: string | null };
  checklists: ReadChecklist[];
}

interface ClientModules {
  reviewsFromCkl(parameters: object): ReadFile;
  reviewsFromCklb(parameters: object): ReadFile;
}

// The package's type declarations name another module, so that a static import of it does not compile.
const packageName: string = '@nuwcdivnpt/stig-manager-client-modules';
const { reviewsFromCkl, reviewsFromCklb } = (await import(packageName)) as ClientModules;

const parameters = (data: string) => ({
  data,
  fieldSettings: {
    detail: { enabled: 'always', required: 'optional' },
    comment: { enabled: 'always', required: 'optional' },
  },
  allowAccept: true,
  importOptions: {
    autoStatus: 'saved',
    unreviewed: 'always',
    unreviewedCommented: 'informational',
    emptyDetail: 'import',
    emptyComment: 'import',
    allowCustom: true,
  },
  sourceRef: null,
});

/** Reads a checklist as STIG Manager and its Watcher do, every rule kept whatever its state. Throws when they refuse it. */
export const readCklb = (text: string): ReadFile => reviewsFromCklb(parameters(text));

/** The same for a ckl. */
export const readCkl = (text: string): ReadFile => reviewsFromCkl(parameters(text));

const results = {
  not_reviewed: 'notchecked',
  not_applicable: 'notapplicable',
  open: 'fail',
  not_a_finding: 'pass',
};

/** How it shows a rule: one that is not reviewed but has a text as informational. */
export const states = ({ status, finding_details, comments }: Cklb['stigs'][number]['rules'][number]) =>
  status === 'not_reviewed' && finding_details + comments !== '' ? 'informational' : results[status];
