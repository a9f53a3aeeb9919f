// The example of CONTRIBUTING.md, `GET /api/v1/lists/{id}/summary`, as a change of the sources: what stands above each
// text is where it goes. test/worked-example.test.ts applies it to a copy.

/** A text that an example adds to a file: above a function (and its docstring), or above the last line that is `above`. */
export interface Addition {
  file: string;
  above: string;
  text: string;
  /** What the anchor is, for who has to find its new place. */
  anchor: string;
}

export const workedExample: Addition[] = [
  {
    file: 'src/collections/lists-schema.ts',
    above: 'export const listsQuery = ',
    anchor: 'the schemas of answers end and those of requests begin',
    text: `export const ListSummary = z
  .strictObject({ stigs: z.int(), newer: z.int(), gone: z.int(), oldest: DateOrNull })
  .openapi('ListSummary');
export type ListSummary = z.infer<typeof ListSummary>;

`,
  },
  {
    file: 'src/collections/list-entries.ts',
    above: '    sheet: (viewer: Viewer, id: string)',
    anchor: 'the service has its functions that begin with the Viewer',
    text: `    /** What the STIGs of a list have together. Throws the one 404. */
    summary: (viewer: Viewer, id: string): ListSummary =>
      read(viewer, id, () => {
        const { stigs, newer, gone, oldest } = rows.totals(id);
        return { stigs, newer, gone, oldest };
      }),

`,
  },
  {
    file: 'src/collections/list-entries.ts',
    above:
      "import type { ListEntry, ListExport, ListFinding, ListSheetRow, ListStigs } from './lists-schema.ts';",
    anchor: 'the shapes of lists are imported',
    text: "import type { ListSummary } from './lists-schema.ts';\n",
  },
  {
    file: 'src/collections/list-entries-api.ts',
    above: '  return app;',
    anchor: 'the routes of lists end',
    text: `  route('GET /api/v1/lists/{id}/summary', access.listsRead, {
    operationId: 'getListSummary',
    summary: 'Count the STIGs of a list, and those that are newer or gone',
    params: idParam,
    response: jsonContent(schemas.ListSummary, 'The counts.'),
    handle: ({ viewer, params }) => entries.summary(viewer, params.id),
  });

`,
  },
];
