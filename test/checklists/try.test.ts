import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { testApp } from '../support/app.ts';
import { suite } from '../support/harness.ts';
import { exchangeFolder, reference } from '../support/reference.ts';

const s = suite('try');
s('x', async () => {
  const t = await testApp([reference('xccdf'), reference('zips')]);
  for (const folder of ['xccdf', 'xccdf/bad', 'assembled', 'ckl', 'cklb', 'cklb/bad']) {
    for (const name of readdirSync(join(exchangeFolder, folder)).sort()) {
      if (!/\.(xml|gz|ckl|cklb)$/.test(name)) continue;
      const raw = readFileSync(join(exchangeFolder, folder, name));
      const text = String(name.endsWith('.gz') ? gunzipSync(raw) : raw);
      console.log('==', name);
      if (/\.xml/.test(name)) {
        const { status, json } = await t.send(
          'POST',
          '/api/v1/checklists/from-results?hostName=x'.replace('?hostName=x', ''),
          text,
        );
        if (status !== 200) console.log(status, json.error.message);
        else {
          const { rules, ...rest } = json.report;
          console.log(
            JSON.stringify({
              ...rest,
              unknown: rest.unknown.slice(0, 3),
              nu: rest.unknown.length,
              nr: rules.length,
            }),
          );
          console.log(JSON.stringify(json.checklist.target_data));
          const reasons: Record<string, number> = {};
          for (const r of rules) {
            const k = `${r.status} | ${r.result} | ${r.reason}`
              .replace(/SV-\d+r\d+(_rule)?/g, 'SV')
              .replace(/V-\d+/g, 'V');
            reasons[k] = (reasons[k] ?? 0) + 1;
          }
          console.log(reasons);
          const d = json.checklist.stigs[0].rules.find((r: any) => r.finding_details !== '');
          console.log(d?.rule_id_src, d?.finding_details.slice(0, 300), '|', d?.comments.slice(0, 100));
        }
      }
      const { status, json } = await t.send('POST', '/api/v1/checklists/inspect', text);
      if (status !== 200) {
        console.log('inspect', status, json.error.message);
        continue;
      }
      for (const { findings, ...rest } of json.stigs) {
        const codes: Record<string, number> = {};
        for (const f of findings) codes[f.code] = (codes[f.code] ?? 0) + 1;
        console.log('inspect', json.kind, JSON.stringify(rest), JSON.stringify(codes));
        const seen = new Set();
        for (const f of findings) {
          if (seen.has(f.code)) continue;
          seen.add(f.code);
          console.log('   ', f.groupId, f.code, f.message);
        }
      }
    }
  }
  t.db.close();
});
s.run();
