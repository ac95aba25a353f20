# Burin in a container: docker run --rm -it -v "$PWD:/work" -e OPENAI_API_KEY burin
FROM node:22-bookworm-slim

# Without versions, so that a new image has what Debian has fixed since.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap ca-certificates git \
    && rm -rf /var/lib/apt/lists/*

ARG BURIN_VERSION=latest
RUN npm install --global --no-audit --no-fund "burin@${BURIN_VERSION}" && npm cache clean --force

USER node
WORKDIR /work
ENTRYPOINT ["burin"]
