# An image with the command twinlink; the demo needs nothing else:
#   docker build -t twinlink .
#   mkdir out && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD/out:/out" twinlink demo

FROM debian:bookworm-slim AS build
RUN apt-get update -qq && apt-get install -qq -y --no-install-recommends python3 python3-venv
WORKDIR /source
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY twinlink twinlink
RUN python3 -m venv /tmp/tools && /tmp/tools/bin/pip install --quiet --no-cache-dir build
RUN /tmp/tools/bin/python -m build --wheel --outdir /wheel
ARG EXTRAS=cluster
RUN python3 -m venv /opt/twinlink \
  && /opt/twinlink/bin/pip install --quiet --no-cache-dir "$(ls /wheel/*.whl)[$EXTRAS]" \
  && /opt/twinlink/bin/python -P -m twinlink.compiled

FROM debian:bookworm-slim
RUN apt-get update -qq \
  && apt-get install -qq -y --no-install-recommends ca-certificates python3 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home twinlink \
  && install -d -m 1777 /out
COPY --from=build /opt/twinlink /opt/twinlink
ENV PATH=/opt/twinlink/bin:$PATH
USER twinlink
WORKDIR /out
ENTRYPOINT ["twinlink"]
CMD ["--help"]
