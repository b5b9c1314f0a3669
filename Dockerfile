# One image for every role: `docker run referee worker --role engine`, `feed`, `dashboard`, `demo`, …
FROM python:3.11-slim-bookworm

RUN useradd --create-home --home-dir /var/lib/referee --uid 10001 referee
WORKDIR /opt/referee

# Dependencies first: they change less often than the code, and chDB alone is 550 MB.
COPY pyproject.toml requirements.lock ./
RUN python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" \
      > dependencies.txt \
 && pip install --no-cache-dir --disable-pip-version-check --constraint requirements.lock \
      --requirement dependencies.txt setuptools

COPY README.md LICENSE ./
COPY rules rules
COPY topics topics
COPY streams streams
COPY agents agents
COPY sinks sinks
COPY referee referee
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation .

USER referee
WORKDIR /var/lib/referee
EXPOSE 8080
ENTRYPOINT ["referee"]
CMD ["--help"]
