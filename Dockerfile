# glibc, since the Temporal SDK's core is built for it; one Node for all three stages.
FROM node:22.23.2-bookworm-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5 AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json tsconfig.image.json ./
COPY schemas ./schemas
COPY platform ./platform
COPY activities ./activities
COPY workflows ./workflows
COPY api ./api
COPY worker ./worker
COPY stack ./stack
COPY console ./console
COPY docs ./docs
COPY sdk ./sdk
# Without what only `npm start` needs: engines, supervisor, demo.
RUN npx tsc -p tsconfig.image.json && node dist/worker/workflowBundle.js && node --import tsx stack/buildConsole.ts && node --import tsx stack/buildDocs.ts && npm run -s sbom > sbom.cdx.json

FROM node:22.23.2-bookworm-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5 AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
# Without the cores of Temporal's SDK for other systems, an eighth of the image.
RUN npm ci --omit=dev && npm cache clean --force \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM node:22.23.2-bookworm-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5
# TLS to Temporal, Apple, Google and receivers needs the roots. The service runs Node alone: no npm, yarn or headers,
# and no program that runs as another user than its caller.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /opt/yarn* /usr/local/lib/node_modules /usr/local/include/node \
  && (cd /usr/local/bin && rm -f npm npx corepack yarn yarnpkg pnpm pnpx) \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
ENV NODE_ENV=production
# Memory that one thread gave back serves all of them: a seventh less at the peak of an import.
ENV MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/sbom.cdx.json ./
COPY package.json ./
USER node
EXPOSE 3000 9464 9465
CMD ["node", "dist/api/main.js"]
