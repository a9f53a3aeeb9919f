import type { Child } from 'hono/jsx';
import { programName } from '../../base/installation.ts';

/** What to import while the catalog has no publisher's STIG. `inbox` is null without folder or session. */
export function FirstRun({ inbox }: { inbox: string | null }): Child {
  return (
    <section aria-labelledby="first-run">
      <h2 id="first-run">Bring your STIGs</h2>
      <p>The catalog contains only the samples of the package. Add your STIGs in three steps:</p>
      <ol>
        <li>
          <b>Download</b> where there is a network: the <i>SRG-STIG Library Compilation</i> of the quarter
          from DISA (public.cyber.mil). For the texts of controls, also the OSCAL catalog of SP 800-53 and the
          CPRT export of SP 800-171 from NIST (csrc.nist.gov).
        </li>
        <li>
          <b>Carry</b> the files over unchanged. Do not unpack zips.
        </li>
        <li>
          {inbox === null ? (
            <>
              <b>Import</b> them on the machine that runs Gapstone: <code>{programName} import FILE…</code>
            </>
          ) : (
            <>
              <b>Put</b> them into the folder <code>{inbox}</code> on the machine that runs Gapstone. It
              imports files that have not changed for two seconds, and leaves them there.
            </>
          )}{' '}
          The STIGs appear here at once; <a href="/content">Content</a> names each file and its outcome.
        </li>
      </ol>
    </section>
  );
}
