# docker build -t regard . && docker run --rm -it -v "$PWD:/work" regard demo translate
# docker run --rm -p 8080:8080 -v "$PWD:/work" regard serve --host 0.0.0.0 -m models/
FROM debian:bookworm-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make dpkg-dev
COPY . /regard
WORKDIR /regard
RUN make deb JOBS="$(nproc)"

FROM debian:bookworm-slim
COPY --from=build /regard/build/packages/*.deb /tmp/packages/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/packages/libregard0_*.deb /tmp/packages/regard_*.deb \
       /tmp/packages/regard-figures_*.deb /tmp/packages/regard-sentences_*.deb /tmp/packages/regard-languages_*.deb \
       /tmp/packages/regard-serve_*.deb \
       fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/* /tmp/packages
RUN useradd --create-home regard
USER regard
WORKDIR /work
EXPOSE 8080
ENTRYPOINT ["regard"]
