import { SaxesParser } from 'saxes';

type Pairs = [name: string, text: string | null][];

/** A ckl as it stands in its file: every name with its text, in order; null where there is no element for the text. */
export interface ReadCkl {
  asset: Pairs;
  stigs: { info: Pairs; rules: { data: Pairs; answer: Pairs }[] }[];
}

/** Reads a ckl of STIG Viewer 2, sharing no code with reader or writer. Throws for an element elsewhere than it writes it. */
export function readCklFile(text: string): ReadCkl {
  const read: ReadCkl = { asset: [], stigs: [] };
  const stack: { name: string; text: string }[] = [];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes, isSelfClosing }) => {
    if (Object.keys(attributes).length > 0 || isSelfClosing) throw new Error(`<${name}> of another form`);
    stack.push({ name, text: '' });
    const place = stack.map((each) => each.name).join('/');
    const stig = read.stigs.at(-1);
    const rule = stig?.rules.at(-1);
    if (place === 'CHECKLIST/STIGS/iSTIG') read.stigs.push({ info: [], rules: [] });
    else if (place === 'CHECKLIST/STIGS/iSTIG/VULN') stig!.rules.push({ data: [], answer: [] });
    else if (place.endsWith('iSTIG/STIG_INFO/SI_DATA')) stig!.info.push(['', null]);
    else if (place.endsWith('VULN/STIG_DATA')) {
      if (rule!.answer.length > 0) throw new Error('STIG_DATA after the answer');
      rule!.data.push(['', null]);
    }
  });
  parser.on('text', (part) => {
    if (stack.length > 0) stack.at(-1)!.text += part;
  });
  parser.on('closetag', () => {
    const place = stack.map((each) => each.name).join('/');
    const { name, text } = stack.pop()!;
    const stig = read.stigs.at(-1);
    const rule = stig?.rules.at(-1);
    if (/(?:SI|STIG)_DATA$|ASSET$|STIGS$|iSTIG$|STIG_INFO$|VULN$|CHECKLIST$/.test(name)) {
      if (text.trim() !== '') throw new Error(`text in <${name}>`);
    } else if (place === `CHECKLIST/ASSET/${name}`) read.asset.push([name, text]);
    else if (place.endsWith('SI_DATA/SID_NAME')) stig!.info.at(-1)![0] = text;
    else if (place.endsWith('SI_DATA/SID_DATA')) stig!.info.at(-1)![1] = text;
    else if (place.endsWith('STIG_DATA/VULN_ATTRIBUTE')) rule!.data.at(-1)![0] = text;
    else if (place.endsWith('STIG_DATA/ATTRIBUTE_DATA')) rule!.data.at(-1)![1] = text;
    else if (place.endsWith(`VULN/${name}`)) rule!.answer.push([name, text]);
    else throw new Error(`<${name}> at ${place}`);
  });
  parser.write(text).close();
  return read;
}
