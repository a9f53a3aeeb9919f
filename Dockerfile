# Build where there is a network; run where there is none:
#   docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges -p 8080:8080 -v gapstone:/data gapstone
ARG BASE_REGISTRY=docker.io
ARG BASE_IMAGE=library/node
ARG BUILD_TAG=24-bookworm-slim
ARG RUN_TAG=24-bookworm-slim

FROM ${BASE_REGISTRY}/${BASE_IMAGE}:${BUILD_TAG} AS build
WORKDIR /opt/gapstone
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci
COPY src src
COPY importers importers
RUN node src/build.mjs && npm prune --omit=dev && npm run --silent sbom > /dev/null && mkdir /volume

FROM ${BASE_REGISTRY}/${BASE_IMAGE}:${RUN_TAG}
# The final stage keeps Node alone: no npm, no yarn, no corepack; the slim image has no compiler.
RUN rm -rf /usr/local/lib/node_modules /opt/yarn* /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
WORKDIR /opt/gapstone
COPY --from=build /opt/gapstone/node_modules node_modules
COPY --from=build /opt/gapstone/dist dist
COPY --from=build /opt/gapstone/package.json package.json
COPY migrations migrations
COPY data data
COPY docs docs
COPY LICENSE LICENSE
COPY --from=build --chown=65532:65532 /volume /data
ENV NODE_ENV=production GAPSTONE_HOST=0.0.0.0 GAPSTONE_PORT=8080 GAPSTONE_DB=/data/gapstone.db
USER 65532:65532
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "require(process.env.GAPSTONE_TLS_CERT ? 'https' : 'http').get({ host: '127.0.0.1', port: process.env.GAPSTONE_PORT, path: '/readyz', rejectUnauthorized: false }, (r) => process.exit(r.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["node", "dist/src/cli.js"]
CMD ["start", "--no-token"]
