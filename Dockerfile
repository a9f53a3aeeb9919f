# Build where there is a network; run where there is none (docs/container.md):
#   docker build -t gapstone .
# Bases are arguments, to be named with a digest where they must not change.
# On the Universal Base Image of Red Hat, whose Node lies in another folder:
#   podman build --format docker -t gapstone --build-arg NODE_DIR=/usr \
#     --build-arg BUILD_IMAGE=registry.access.redhat.com/ubi9/nodejs-24:latest \
#     --build-arg RUN_IMAGE=registry.access.redhat.com/ubi9/nodejs-24-minimal:latest .
ARG BUILD_IMAGE=docker.io/library/node:24-bookworm-slim
ARG RUN_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${BUILD_IMAGE} AS build
USER 0
WORKDIR /opt/gapstone
COPY package.json package-lock.json .npmrc tsconfig.json ./
# The base has Node, and nothing has to be compiled: no script of a package runs.
RUN npm ci --include=dev --ignore-scripts
COPY . .
ARG REVISION
RUN node src/build.mjs && node src/runtime-tree.mjs /opt/tree "${REVISION}" \
  && mkdir -p /opt/bill/src /opt/bill/dist && cp package.json package-lock.json /opt/bill \
  && cp dist/packages.json /opt/bill/dist && cp src/sbom.mjs src/image-root.mjs /opt/bill/src

# The final root, with the base's own programs at hand: the bill of materials is made from what is there.
FROM ${RUN_IMAGE} AS root
ARG NODE_DIR=/usr/local
USER 0
COPY --from=build /opt/tree /opt/gapstone
COPY --from=build /opt/bill /tmp/bill
RUN PATH="${NODE_DIR}/bin:${PATH}" && node /tmp/bill/src/image-root.mjs / "${NODE_DIR}" \
  && node /tmp/bill/src/sbom.mjs /opt/gapstone --base > /dev/null && rm -rf /tmp/bill

# One layer, in which nothing lies under what was removed.
FROM scratch
ARG NODE_DIR=/usr/local
ARG RUN_IMAGE
ARG REVISION
COPY --from=root / /
LABEL org.opencontainers.image.title="Gapstone" \
  org.opencontainers.image.description="An offline catalog of STIGs, security controls and their crosswalk, for assessors who work where there is no network." \
  org.opencontainers.image.version="1.0.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.base.name="${RUN_IMAGE}"
ENV PATH=${NODE_DIR}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production \
  GAPSTONE_HOST=0.0.0.0 GAPSTONE_PORT=8080 GAPSTONE_DB=/data/gapstone.db GAPSTONE_INBOX=/inbox
WORKDIR /opt/gapstone
USER 65532:65532
VOLUME /data
EXPOSE 8080
# A few lines of bash while HTTP is plain; over TLS it takes a Node.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["bash", "-c", "if [ -n \"$GAPSTONE_TLS_CERT\" ]; then exec node -e \"require('https').get({ host: '127.0.0.1', port: process.env.GAPSTONE_PORT, path: '/readyz', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))\"; fi; exec 3<>\"/dev/tcp/127.0.0.1/$GAPSTONE_PORT\" && printf 'GET /readyz HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r -t 4 line <&3 && [[ $line == *' 200 '* ]]"]
# V8 would let young objects fill 64 MB before it looks at them.
ENTRYPOINT ["node", "--max-semi-space-size=16", "dist/src/cli.js"]
CMD ["start", "--no-token"]
