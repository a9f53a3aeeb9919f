import type { FollowedCertificates } from '../auth/certificates.ts';
import type { Config } from '../base/config.ts';
import { type Followed, followFiles } from '../base/follow.ts';
import type { Log } from '../base/log.ts';
import { loadCertificate } from '../http/certificate.ts';
import type { Figures } from '../http/metrics.ts';
import type { RunningServer, Tls } from '../server.ts';

export type Security = Awaited<ReturnType<typeof loadSecurity>>;

/**
 * The server's certificate, and who comes in by one (rule D43.1). Throws `CommandError` for files that cannot be used.
 * The reader of certificates is loaded only where it is needed.
 */
export async function loadSecurity(config: Config, now: () => Date, log: Log) {
  const { tls: files, tlsClientCa } = config;
  let own = files && loadCertificate(files, now());
  let certificates: FollowedCertificates | null = null;
  if (tlsClientCa !== null) {
    const { loadCertificates } = await import('../auth/certificates.ts');
    certificates = await loadCertificates({ ...config, tlsClientCa }, now, log);
  }

  const tls = (): Tls | null =>
    own && { cert: own.cert, key: own.key, ...(certificates && { ca: certificates.authorities() }) };

  /** Reads the certificate again. When it cannot be used, TLS goes on with the former one. */
  function renew(server: RunningServer): void {
    const former = own;
    own = loadCertificate(files!, now());
    try {
      server.renew(tls()!);
    } catch (error) {
      own = former;
      throw error;
    }
  }

  return {
    tls,
    certificates,
    certificateUntil: () => own?.validTo,

    /** Reads again what changes; see `followFiles`. */
    follow(server: RunningServer): ReturnType<typeof followFiles> {
      const groups: Followed[] = [];
      if (files)
        groups.push({
          name: 'certificate',
          paths: [files.cert, files.key],
          reload: () => renew(server),
          fields: () => ({ certificateUntil: own!.validTo }),
        });
      if (certificates) groups.push(...certificates.followed(() => own && server.renew(tls()!)));
      return followFiles(groups, log);
    },

    figures(): Figures {
      const until = () => Date.parse(own!.validTo) / 1000;
      const nextUpdate = certificates?.nextUpdate() ?? null;
      return {
        ...(own && {
          gapstone_certificate_expiry_timestamp_seconds: ['When the certificate of the server ends.', until],
        }),
        ...(nextUpdate !== null && {
          gapstone_crl_next_update_timestamp_seconds: [
            'When the first revocation list is out of date; 0 where one is missing.',
            () => certificates!.nextUpdate()!,
          ],
        }),
      };
    },
  };
}
