import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { runImport } from '../../importers/run.ts';
import type { Database } from '../../src/db/database.ts';
import { dumpControls } from '../support/control-dump.ts';
import { suiteIf } from '../support/harness.ts';
import { everything } from '../support/prepared.ts';
import { exchangeData, exchangeFolder } from '../support/reference.ts';
import { put, scratchFolder } from '../support/scratch.ts';
import { rowsOf } from '../support/tables.ts';

// What other tools write, imported into a full catalog by somebody who takes the wrong folder.
const exchange = suiteIf(exchangeData, 'Files of other tools');
if (exchange) {
  /** What is served: the controls and crosswalk, the STIGs with their releases; by which baselines one finds them apart. */
  const servedBy = (db: Database) => ({
    records: db.sqlite.prepare('SELECT record_json FROM controls ORDER BY control_id, version').pluck().all(),
    controls: dumpControls(db, {
      only: ['framework_versions', 'crosswalk_nodes', 'crosswalk_edges'],
    }),
    stigs: db.sqlite
      .prepare(
        `SELECT s.slug, s.title, r.version, r.finding_count, src.sha256 FROM stigs AS s
           JOIN stig_releases AS r ON r.stig_id = s.id JOIN sources AS src ON src.id = r.source_id ORDER BY 1, 3`,
      )
      .all(),
  });

  exchange(
    'change no control and make no STIG; each has its line, and a reason that names what it is',
    async () => {
      const db = await everything();
      // A mapping-collection is a source of pairs (rule D40.2): this one states again those that DISA's list does.
      const pairs = () => db.sqlite.prepare('SELECT count(*) FROM crosswalk_edges').pluck().get();
      const known = pairs();
      const mapping = join(exchangeFolder, 'oscal', 'examples', 'mapping-collection-cci-to-800-53.json');
      const { summary } = await runImport(db, [mapping]);
      assert.equal([summary.imported, pairs()], [1, known]);
      const before = servedBy(db);
      assert.ok(before.stigs.length > 40);

      const files = readdirSync(exchangeFolder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      const [unpacked, other] = [scratchFolder(), scratchFolder()];
      const isOther = (name: string) => name.includes('LI-SaaS-baseline-resolved');
      for (const file of files.filter((name) => name.endsWith('.gz')))
        put(isOther(file) ? other : unpacked, basename(file, '.gz'), gunzipSync(readFileSync(file)));

      const { lines } = await runImport(db, [exchangeFolder, unpacked]);
      assert.equal(servedBy(db), before);
      assert.is(lines.length, files.length + readdirSync(unpacked).length);
      const expected = rowsOf(String.raw`
        \.gz$ | skipped other | gzip: unpack it first
        catalog-ac-1-to-ac-3\.json$ | rejected oscal-catalog | only a part of .+ lacks 979 active controls
        LOW-baseline-resolved-profile_catalog\.json$ | rejected oscal-catalog | resolved .+ lacks 858 active
        mapping-collection.+\.json$ | unchanged oscal-mapping | ^null$
        (?:profile-low|FedRAMP\S+-baseline_profile)\.json$ | imported oscal-profile | ^null$
        component-definition.+\.json$ | skipped other | \(component-definition\)
        schema\.json$ | skipped other | a JSON schema
        \.cklb?$ | skipped other | a checklist
        emass/.+\.csv$ | skipped other | a sheet of eMASS
        \.(?:md|tsv)$ | skipped other | \((?:a text|Markdown without a head: .+)\)
        \.xsd$ | skipped other | root <schema>
        NoTestResult\.xml$ | skipped scap | without the marks of a manual STIG
        -arf\.xml$ | skipped scap | an XCCDF TestResult .+ scan results belong to a checklist
        \.xml$ | skipped xccdf | scan results belong to a checklist, not to the catalog$`);
      for (const { source, outcome, kind, reason } of lines) {
        const row = expected.find(([file]) => new RegExp(file!).test(source));
        assert.ok(row, `${source} is expected by nobody`);
        assert.is(`${outcome} ${kind}`, row![1], `${source}: ${reason}`);
        assert.match(String(reason), new RegExp(row![2]!), source);
      }
      // Resolved from a profile of another, without the marks of that: a framework of its own (rule D40.1).
      assert.is((await runImport(db, [other])).summary.imported, 1);
      const { controls, stigs } = servedBy(db);
      assert.is.not(controls.framework_versions, before.controls.framework_versions);
      assert.equal([controls.crosswalk_edges, stigs], [before.controls.crosswalk_edges, before.stigs]);
      db.close();
    },
  );

  exchange.run();
}
