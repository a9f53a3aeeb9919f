// A process that appends events to an audit file, one at a time: node audit-writer.js FILE COUNT NAME
import { openAuditFile } from '../../src/audit/file.ts';
import { someEvent } from './audit.ts';

const [file, count, name] = process.argv.slice(2) as [string, string, string];
const audit = openAuditFile(file, { now: () => new Date() });
process.stdout.write('ready\n');
for (let i = 1; i <= Number(count); i++) audit.append([someEvent(`${name} ${i}`)], false);
audit.close();
