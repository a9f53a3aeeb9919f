// One table of all pages and forms: who may see them, with a sample of each.

/**
 * `rule | method path | form | status`: a place of a path has its sample behind `=`; `{id}` alone is each list or collection.
 * A status is that of who may see it, which nobody else learns, where it is not 200 for a page and 303 for a form.
 */
const table = `
public | GET /
public | GET /search?q=harbor
public | GET /signin
public | GET /docs
public | GET /docs/{area=lists}
public | GET /controls
public | GET /controls/{framework=nist-800-53}
public | GET /controls/{framework=nist-800-53}/{controlId=AC-2}
public | GET /ccis
public | GET /ccis/{cci=CCI-000015}
user   | GET /stigs
user   | GET /stigs/{slug=harbor_linux_3}/coverage
user   | GET /stigs/{slug=harbor_linux_3}/automation
user   | GET /stigs/{slug=harbor_linux_3}/worksheet
user   | GET /stigs/{slug=harbor_linux_3}
user   | GET /stigs/{slug=no_such_stig} | | 404
user   | GET /stigs/{slug=harbor_linux_3}/rules/{groupId=V-900001}
user   | GET /stigs/{slug=harbor_linux_3}/rules/{groupId=V-1} | | 404
public | GET /cite?ref=nist-800-53@Rev%205.2.0%23AC-2
user   | GET /cite?ref=harbor_linux_3@V1R1
user   | GET /rules/{id=V-900001}
user   | GET /rules/{id=V-1} | | 404
user   | GET /stigs/{slug=harbor_linux_3}/diff
user   | GET /stigs/{slug=harbor_linux_3}/diff/file
user   | GET /changes
user   | GET /stigs/{slug=harbor_linux_3}/releases
user   | GET /stigs/{slug=harbor_linux_3}/roles
user   | GET /stigs/{slug=harbor_linux_3}/about
user   | GET /stigs/{slug=harbor_linux_3}/beside?with=lantern
user   | GET /stigs/{slug=harbor_linux_3}/beside/file?with=lantern
user   | GET /checklists | | 302
user   | GET /checklists/upgrade
user   | GET /checklists/results
user   | GET /checklists/inspect
user   | GET /checklists/hosts
user   | GET /checklists/emass
user   | GET /references
user   | GET /catalog
user   | GET /catalog/files?search=harbor
user   | GET /catalog/imports/{run=1}
user   | GET /catalog/imports/{run=99} | | 404
user   | GET /favorites
user   | GET /lists
user   | GET /collections
read   | GET /lists/{id}
read   | GET /lists/{id}/checklists
read   | GET /lists/{id}/brief
read   | GET /lists/{id}/brief/file
read   | GET /lists/{id}/settings
read   | GET /lists/{id}/coverage?rollup=true
read   | GET /lists/{id}/automation
read   | GET /lists/{id}/worksheet?print=true
read   | GET /lists/{id}/changes
change SHARED | GET /lists/{id=$sharedList}/stigs/{slug=harbor_linux_3}
read   | GET /collections/{id}
change SHARED | GET /collections/{id=$sharedCollection}/edit
sessionPage | GET /tokens
regdoc | GET /documents
regdoc | GET /documents/{documentId=harbor-basic-directive}
regdoc | GET /documents/{documentId=none} | | 404
occ    | GET /roles
occ    | GET /roles/{code=15-1244.00}
occ    | GET /roles/{code=00-0000.00} | | 404
public | GET /signout | | 303 /
public | GET /undo    | | 303 /
public | GET /theme   | | 303 /
public | GET /session | | 303 /
user   | GET /tokens/revoke | | 303 /tokens
user   | GET /lists/add | | 303 /lists
user   | GET /lists/{id=$privateList}/edit | | 303 /lists/$privateList/settings
user   | GET /lists/{id=$privateList}/stigs | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/stigs/remove | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/duplicate | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/delete | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/restore | | 303 /lists
user   | GET /lists/{id=$privateList}/seen | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/hosts/ticks | | 303 /lists/$privateList
user   | GET /lists/{id=$privateList}/hosts/remove | | 303 /lists/$privateList
user   | GET /collections/add | | 303 /collections
user   | GET /collections/{id=$privateCollection}/controls | | 303 /collections/$privateCollection
user   | GET /collections/{id=$privateCollection}/controls/remove | | 303 /collections/$privateCollection
user   | GET /collections/{id=$privateCollection}/delete | | 303 /collections/$privateCollection
user   | GET /favorites/stigs | | 303 /favorites
user   | GET /favorites/stigs/remove | | 303 /favorites
user   | GET /favorites/controls | | 303 /favorites
user   | GET /favorites/controls/remove | | 303 /favorites

user   | POST /checklists/upgrade | slug=harbor_linux_3 | 400
user   | POST /checklists/results | slug=harbor_linux_3 | 400
user   | POST /checklists/inspect | slug=harbor_linux_3 | 400
user   | POST /checklists/emass | sheet=poam | 400
user   | POST /references | text= | 400
user   | POST /lists | name= | 400
user   | POST /collections | name= | 400
user   | POST /favorites/stigs | slug=harbor_linux_3
user   | POST /favorites/stigs/remove | slug=harbor_linux_3
user   | POST /favorites/controls | framework=nist-800-53&controlId=AC-2
user   | POST /favorites/controls/remove | framework=nist-800-53&controlId=AC-2
change PRIVATE | POST /lists/add | list=$privateList&slug=harbor_linux_3
change | POST /lists/{id}/settings | name=Renamed&description=&tags=&color=&visibility=$visibility
read   | POST /lists/{id}/checklists | hosts= | 400
change SHARED | POST /lists/{id=$sharedList}/stigs | slugs=lantern_web_server_2
change SHARED | POST /lists/{id=$sharedList}/stigs/remove | slug=lantern_web_server_2
change SHARED | POST /lists/{id=$sharedList}/stigs/{slug=harbor_linux_3} | notes=n&position=1
read   | POST /lists/{id}/seen | at=
change SHARED | POST /lists/{id=$sharedList}/hosts/remove | host=none
change SHARED | POST /lists/{id=$sharedList}/hosts/ticks | revision=1 | 412
session | POST /session | at= | 200
session | POST /tokens | name=&ttl=8h | 400
session | POST /tokens/revoke | id=none | 404
user   | POST /undo | id=none | 404
change PRIVATE | POST /lists/{id=$deletedList}/restore | at=
change PRIVATE | POST /lists/{id=$deletedList}/delete | at=
read SHARED | POST /lists/{id=$sharedList}/duplicate | at=
change PRIVATE | POST /collections/add | collection=$privateCollection&framework=nist-800-53&controlId=AC-2
change SHARED | POST /collections/{id=$sharedCollection}/edit | name=Renamed&visibility=SHARED
read SHARED | POST /collections/{id=$sharedCollection}/controls | framework=nist-800-53&controlIds=AC-2&notes=
change SHARED | POST /collections/{id=$sharedCollection}/controls/remove | framework=nist-800-53&controlId=AC-2
change PRIVATE | POST /collections/{id=$privateCollection}/delete | at=
`;

export interface PageOperation {
  /** The rule, and of which list or collection. */
  rule: string;
  /** As the application has it. */
  route: string;
  path: string;
  form?: Record<string, string>;
  status: number;
  /** Where it leads on to. */
  to?: string;
}

function* rowsOf(line: string, names: Record<string, string>): Generator<PageOperation> {
  const [rule = '', request = '', form = '', answer = ''] = line.split('|').map((cell) => cell.trim());
  const [method, path] = request.split(' ') as [string, string];
  const [status = method === 'GET' ? '200' : '303', to] = answer.split(' ').filter(Boolean);
  const fill = (text: string, more = {}) =>
    text.replace(/\$(\w+)/g, (_, name) => ({ ...names, ...more })[name as string]!);
  for (const visibility of path.includes('{id}') ? ['PRIVATE', 'SHARED'] : ['']) {
    const id = names[`${visibility.toLowerCase()}${path.startsWith('/lists') ? 'List' : 'Collection'}`]!;
    yield {
      rule: `${rule} ${visibility}`.trim(),
      route: `${method} ${path.replace(/\{(\w+)[^}]*\}/g, ':$1').split('?')[0]}`,
      path: fill(path.replace(/\{\w+=([^}]*)\}/g, '$1').replace('{id}', id)),
      ...(form !== '' && { form: Object.fromEntries(new URLSearchParams(fill(form, { visibility }))) }),
      ...(to !== undefined && { to: fill(to) }),
      status: Number(status),
    };
  }
}

/** The pages and forms; `names` are the ids of alice's lists and collections. */
export const pageOperations = (names: Record<string, string>): PageOperation[] =>
  table
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => [...rowsOf(line, names)]);
