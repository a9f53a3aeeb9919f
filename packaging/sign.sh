#!/usr/bin/env bash
# Signs an rpm in place: `packaging/sign.sh FILE.rpm KEY`. KEY is a private OpenPGP key as `gpg --export-secret-keys`
# writes it, without a passphrase: RSA, as the rpm of RHEL 9 knows no ECDSA. The public half is written beside the rpm, for
# `rpm --import`. The key is read in a keyring of its own, which is gone at the end.
set -euo pipefail
for program in gpg gpgconf rpmsign; do
  command -v "$program" >/dev/null || { echo "packaging: $program is missing: apt-get install gnupg rpm" >&2; exit 1; }
done
# Short, as the socket of gpg's agent lies in it.
GNUPGHOME=$(mktemp -d /tmp/gapstone-gpg-XXXXXX)
export GNUPGHOME
trap 'gpgconf --kill all; rm -rf "$GNUPGHOME"' EXIT
gpg --batch --quiet --import "$2"
fingerprint=$(gpg --batch --with-colons --list-secret-keys | awk -F: '$1 == "fpr" { print $10; exit }')
[ -n "$fingerprint" ] || { echo "packaging: $2 holds no private OpenPGP key" >&2; exit 1; }
rpmsign --define "__gpg $(command -v gpg)" --define "_gpg_name $fingerprint" --define '_gpg_digest_algo sha512' \
  --addsign "$1" >/dev/null 2>"$GNUPGHOME/log" || { cat "$GNUPGHOME/log" >&2; exit 1; }
gpg --batch --armor --export "$fingerprint" >"$(dirname "$1")/RPM-GPG-KEY-gapstone"
echo "signed by $fingerprint"
