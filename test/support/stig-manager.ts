/** What STIG Manager's reader makes of one STIG in a checklist. */
export interface ReadChecklist {
  benchmarkId: string;
  revisionStr: string | null;
  reviews: { ruleId: string; result: string; detail: string; comment: string }[];
  stats: Record<string, number>;
}

interface ClientModules {
  reviewsFromCklb(parameters: object): { target: { name: string }; checklists: ReadChecklist[] };
}

// The package's type declarations name another module, so that a static import of it does not compile.
const packageName: string = '@nuwcdivnpt/stig-manager-client-modules';
const { reviewsFromCklb } = (await import(packageName)) as ClientModules;

/** Reads a checklist as STIG Manager and its Watcher do, every rule kept whatever its state. Throws when they refuse it. */
export function readCklb(text: string): { target: { name: string }; checklists: ReadChecklist[] } {
  return reviewsFromCklb({
    data: text,
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
}
