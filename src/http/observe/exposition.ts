/** One metric with its samples, as the Prometheus text format 0.0.4 has them. */
export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

export interface Sample {
  /** What follows the family's name, for one `_bucket`; empty for most. */
  suffix?: string;
  labels?: Record<string, string>;
  value: number;
}

/** The text of metrics, one family after the other. */
export function expositionText(families: Family[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    lines.push(
      `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`,
      `# TYPE ${name} ${type}`,
    );
    for (const { suffix = '', labels = {}, value } of samples) {
      const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
      lines.push(`${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numberText(value)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A family of one sample without labels. */
export function single(name: string, type: 'counter' | 'gauge', help: string, value: number): Family {
  return { name, help, type, samples: [{ value }] };
}

const escaped = (text: string) => text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}
